import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
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

it('a program that exits without a stop leaves no PostgreSQL behind', async () => {
  const leaving = `
    import { startServer } from './src/chaos/postgres/own-server.ts'
    console.log(new URL((await startServer()).url).port)
    process.exit(0)
  `
  const child = execFile(process.execPath, ['--input-type=module', '--eval', leaving])
  const [port] = await once(child.stdout ?? child, 'data')
  await once(child, 'exit')
  const isRefused = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.destroy()
        resolve(false)
      })
      socket.once('error', () => resolve(true))
    })
  await expect.poll(isRefused, { timeout: 20_000 }).toBe(true)
})
