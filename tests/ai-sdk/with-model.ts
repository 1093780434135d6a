import { afterEach } from 'vitest'
import { ModelServer } from '../model-server/model-server.ts'
import type { Script } from '../model-server/script.ts'

export { modelOf } from './provider.ts'

const started: ModelServer[] = []

afterEach(async () => {
  for (const server of started.splice(0)) await server.close()
})

/** A model server for one test, which is closed with it. */
export async function modelServer(script: Script): Promise<ModelServer> {
  const server = await ModelServer.start(script)
  started.push(server)
  return server
}
