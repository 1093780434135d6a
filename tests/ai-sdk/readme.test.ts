import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { cli } from '../cli/harness/cli.ts'
import { fromSources, programUnder } from '../docs-program.ts'
import { turns } from '../model-server/script.ts'
import { OwnedProcess } from '../server/harness/owned-process.ts'
import { modelServer } from './with-model.ts'

const root = resolve(import.meta.dirname, '../..')
const program = programUnder('Bring your agent', readFileSync(join(root, 'README.md'), 'utf8'))

it('the README serves an agent of the AI SDK in ten lines, and the command line asks it', async () => {
  expect(program.trim().split('\n').length).toBeLessThanOrEqual(10)
  const model = await modelServer(turns({ text: ['Hello ', 'to you.'] }))
  // Inside the repository, so that the program finds the packages of the AI SDK.
  mkdirSync(join(root, '.vitest'), { recursive: true })
  const folder = mkdtempSync(join(root, '.vitest/readme-'))
  const source = fromSources(program).replace('agents: { helper } }))', 'agents: { helper } }), { port: 0 })')
  writeFileSync(join(folder, 'program.ts'), source)
  const env = { HOME: folder, OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'test' }
  const server = new OwnedProcess({ arguments: ['program.ts'], env, folder })
  onTestFinished(async () => {
    await server.end('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const [, url = ''] = await server.line(/(http\S+)\/console#login=\S+$/)
  const asked = await cli(['run', 'helper', 'hi', '--follow', '--url', url], { env: { HOME: folder } })
  expect(asked).toMatchObject({ code: 0, stdout: 'Hello to you.\n' })
})
