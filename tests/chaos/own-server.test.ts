import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'

const program = `
import { startServer } from './src/chaos/postgres/own-server.ts'
const server = await startServer()
await server.stop()
process.exitCode = 3
`

it('a program that had a PostgreSQL of its own exits with the code it has set', async () => {
  const child = execFile(process.execPath, ['--input-type=module', '--eval', program])
  expect(await once(child, 'exit')).toEqual([3, null])
})
