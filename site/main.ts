// Builds the documentation as a static site and serves it to this machine. Run with `npm run docs`, or `npm run docs:build`.
import { complain, readFlags } from '../scripts/flags.ts'
import { buildSite } from './build.ts'
import { serveSite } from './server.ts'

const values = readFlags({
  out: { type: 'string', default: 'dist-docs' },
  port: { type: 'string', default: '0' },
  'build-only': { type: 'boolean', default: false },
})

const port = Number(values.port)
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  complain(`--port ${values.port} is no port. Give a number up to 65535; 0 picks a free one`)
}

const pages = await buildSite(values.out)
console.log(`${pages.length} pages are in ${values.out}`)
if (!values['build-only']) {
  const { url } = await serveSite(values.out, port)
  console.log(`They are served at ${url} until Ctrl-C`)
}
