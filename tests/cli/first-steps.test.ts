import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { OwnedProcess } from '../server/harness/owned-process.ts'
import { cli, program } from './harness/cli.ts'
import { tempFolder } from './harness/local-server.ts'

describe('the first steps of somebody new', () => {
  it.each(['export default {}', "import 'node:fs'"])(
    'are told what to do where package.json makes the config file CommonJS: %s',
    async (line) => {
      const folder = tempFolder()
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'mine', type: 'commonjs' }))
      writeFileSync(join(folder, 'holdfast.config.ts'), `${line}\n`)
      const { code, stderr } = await cli(['serve', '--port', '0'], { folder, env: { XDG_STATE_HOME: folder } })
      expect(code).toBe(1)
      expect(stderr).toContain(
        'holdfast: The config file holdfast.config.ts is taken for CommonJS, because package.json says so. ' +
          'Make it an ES module: npm pkg set type=module\n',
      )
    },
  )

  it('are shown which node of several a log is of, and which process that is', async () => {
    const folder = tempFolder()
    const server = new OwnedProcess({
      arguments: [program, 'serve', '--port', '0'],
      env: { HOME: folder, XDG_STATE_HOME: folder },
      folder,
    })
    onTestFinished(async () => void (await server.end('SIGKILL')))
    const [line] = await server.line(/^.*"msg":"listening".*$/)
    const { url, node, pid } = JSON.parse(line) as { url: string; node?: string; pid?: number }
    const { headers } = await fetch(`${url}/readyz`)
    expect(node).toBe(headers.get('x-holdfast-node'))
    expect(pid).toBe(server.pid)
  })
})
