import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { freshContext, withBrowser } from '../console/harness/browser.ts'
import { refuseProblems } from '../console/harness/problems.ts'
import { databaseServer } from '../deploy/harness/database.ts'
import { partOf, titles } from './hour-page.ts'
import { Newcomer } from './newcomer.ts'
import { manifest, type Packed } from './packed.ts'

const archive = `holdfast-${manifest.version}.tgz`
// Many programs are started one after the other, each of which takes seconds where the machine is busy.
const longMs = 300_000

/** Registers the parts of docs/first-hour.md as tests. They follow on each other, as on the page. */
export function describeFirstHour(packed: Packed): void {
  describe('docs/first-hour.md', () => {
    const database = databaseServer()
    withBrowser()
    const newcomer = () => new Newcomer(packed)
    let store = ''

    it('has the parts that are tested here, and the commands of the README', () => {
      const tested = [
        'A project',
        'An agent',
        'A page',
        'Three nodes',
        'Upgrade',
        'Back up and restore',
        'A run is stuck',
      ]
      expect(titles).toEqual(['See it', ...tested])
      expect(readFileSync('README.md', 'utf8')).toContain(partOf('See it').commands[0])
    })

    it('makes a project of ES modules, with the file that is packed', async () => {
      const clone = join(packed.folder, 'place/holdfast')
      mkdirSync(clone, { recursive: true })
      const here = newcomer()
      await here.type(partOf('A project').commands[0] ?? '', {}, clone)
      const made = JSON.parse(readFileSync(join(packed.folder, 'place/my-agents/package.json'), 'utf8')) as object
      expect(made).toMatchObject({ type: 'module' })
      expect(here.npmCalls).toEqual(['pack', `install ../holdfast/${archive}`])
    })

    it('brings an agent that is served, and run', async () => {
      const { commands, files } = partOf('An agent')
      const here = newcomer()
      here.write(files)
      const { url } = await here.serve(commands[0] ?? '')
      const said = await here.type(commands[1] ?? '', { HOLDFAST_URL: url })
      expect(said).toMatch(/Hello Ada\. .*Your name has 3 letters\..*bg_0\tcompleted\tgreeter.*"letters":3/s)
    })

    it('brings a page that greets in a browser', async () => {
      const { commands, files } = partOf('A page')
      const here = newcomer()
      await here.type(commands[0] ?? '')
      for (const name of ['react', 'react-dom']) packed.link(name)
      const vite = here.start((commands[3] ?? '').replace('npx vite', 'npx vite --host 127.0.0.1 --port 0'))
      const [, origin = ''] = await vite.line(/(http:\/\/127\.0\.0\.1:\d+)/)
      const { url } = await here.serve(`${commands[1]}${commands[2]}`.replace('http://localhost:5173', origin))
      const main = (files['main.tsx'] ?? '').replace('http://127.0.0.1:4747', url)
      expect(main).toContain(url)
      here.write({ ...files, 'main.tsx': main })
      const page = await (await freshContext()).newPage()
      await refuseProblems(page)
      await page.goto(origin)
      await page.getByText('Your name has 3 letters.').waitFor()
      await page.getByRole('button', { name: 'Greet' }).click()
      await page.getByText('Hello Grace. Your name has 5 letters.').waitFor()
    })

    it(
      'brings three nodes, one of which goes on with what another began',
      async () => {
        const [exported = '', prepare = '', ...blocks] = partOf('Three nodes').commands
        const here = newcomer()
        expect(exported).toMatch(/^export HOLDFAST_STORE=postgres:\S+\n$/)
        store = (await database().database()).url
        packed.link('pg')
        expect(await here.type(prepare, { HOLDFAST_STORE: store })).toContain('Nothing is wrong')
        const nodes = new Map<string, Awaited<ReturnType<Newcomer['serve']>>>()
        for (const block of blocks.slice(0, 3)) {
          const [, port = ''] = /--port (\d+)/.exec(block) ?? []
          // A lease so short that nobody has to wait for 15 s.
          nodes.set(port, await here.serve(block, { HOLDFAST_STORE: store, HOLDFAST_LEASE_MS: '1500' }))
        }
        // It waits for a word instead of a time, so that it is at work when its node is killed, however slow the machine is.
        const placed = (block = '') =>
          block
            .replace('{"sleepMs":30000}', '{"receive":{}}')
            .replace(/http:\/\/127\.0\.0\.1:(\d+)/g, (_, port: string) => nodes.get(port)?.url ?? '')
        expect(placed(blocks[3])).toContain('receive')
        const before = await here.type(placed(blocks[3]))
        const [, id = ''] = /logs (bg_\d+) -f/.exec(before) ?? []
        const [, executing = ''] = /task\.started\tattempt 1 on (\S+)/.exec(before) ?? []
        const names = [...nodes.values()].map(({ server }) => server.stderr.join('\n'))
        const index = names.findIndex((log) => log.includes(`"node":"${executing}"`))
        expect(index, `the log of ${executing}`).not.toBe(-1)
        const [killed] = [...nodes.values()].slice(index)
        expect(names[index]).toMatch(new RegExp(`"pid":${killed?.server.pid},"msg":"listening"`))
        await killed?.server.end('SIGKILL')
        const left = [...nodes.values()].find((node) => node !== killed)
        const go = `RUN=${id}\nnpx holdfast --url ${left?.url} send $RUN go\n`
        const after = await here.type(go + placed(blocks[4]).replace(/http:\S+/, left?.url ?? ''))
        expect(after).toMatch(/task\.started\tattempt 1.*step_executed.*task\.resumed.*still here.*task\.completed/s)
        expect(after.match(/step_executed/g)).toHaveLength(1)
      },
      longMs,
    )

    it('says of an upgrade that the schema is as it wants it', async () => {
      const here = newcomer()
      await here.type(partOf('Upgrade').commands[0] ?? '', { HOLDFAST_STORE: store })
      expect(here.npmCalls.at(-1)).toBe(`install ../holdfast/${archive}`)
    })

    it('copies a store beside a server, and starts on the copy', async () => {
      const [backup = '', restore = ''] = partOf('Back up and restore').commands
      const here = newcomer()
      const { server } = await here.serve('npx holdfast serve')
      await here.type(backup, { HOLDFAST_STORE: store })
      await server.end('SIGTERM')
      const { url } = await here.serve(restore)
      expect(await here.type('npx holdfast ps -a', { HOLDFAST_URL: url })).toContain('bg_0\tcompleted\tgreeter')
    })

    it(
      'finds out why a run is stuck, and frees what waits behind it',
      async () => {
        const here = newcomer()
        const { url } = await here.serve('npx holdfast serve')
        const said = await here.type(partOf('A run is stuck').commands[0] ?? '', { HOLDFAST_URL: url })
        expect(said).toMatch(/why\tQueued behind bg_\d+/)
        expect(said).toMatch(/\tcancelled\tscript\t/)
        expect(await here.type('npx holdfast doctor', { HOLDFAST_URL: url })).toContain('Nothing is wrong')
      },
      longMs,
    )
  })
}
