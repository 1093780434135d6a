import { ModelServer } from './model-server.ts'
import { type Turn, turns } from './script.ts'

/**
 * The model server as a program: `node model-server-process.ts '{"turns": […], "port": 0}'`. Prints one line when it is ready,
 * and gives the requests it has had so far at `/requests`.
 */
const options = JSON.parse(process.argv[2] ?? '{}') as { readonly turns?: readonly Turn[]; readonly port?: number }
const server = await ModelServer.start(turns(...(options.turns ?? [{ text: 'Hello.' }])), options.port)
console.log(`model server listening on ${server.url}`)
