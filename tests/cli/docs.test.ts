import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { OwnedProcess } from '../server/harness/owned-process.ts'
import { RunningCli } from './harness/cli.ts'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/cli.md'), 'utf8')

interface Documented {
  readonly line: string
  readonly code: number
}

/** The commands of each section, in their order. A comment says how one ends that does not end with 0. */
const sections = page
  .split(/^## /m)
  .slice(1)
  .map((text) => ({ title: text.slice(0, text.indexOf('\n')), commands: commandsIn(text) }))

function commandsIn(section: string): readonly Documented[] {
  const blocks = [...section.matchAll(/^```console\n(.*?)^```$/gms)].flatMap((match) => match[1] ?? [])
  const lines = blocks.flatMap((block) => [...block.matchAll(/^\$ (.*)$/gm)].flatMap((match) => match[1] ?? []))
  return lines.map((line) => ({ line, code: Number(/# exits with (\d+)$/.exec(line)?.[1] ?? 0) }))
}

// These go on until they are told to stop, having said something first.
const endless = /^holdfast (serve|dev|attach|events|ps .*--watch)\b/

const readme = readFileSync(join(root, 'README.md'), 'utf8')

describe('README.md', () => {
  it('has commands that end as it says', async () => {
    expect(commandsIn(readme).length).toBeGreaterThan(0)
    await runAll(commandsIn(readme))
  })
})

describe('docs/cli.md', () => {
  it('has a section for every command of the program, and no other', async () => {
    const help = new RunningCli(['--help'])
    const { stdout } = await help.ended
    const groups = stdout.slice(stdout.indexOf('Start:'), stdout.indexOf('\nExamples:'))
    const names = [...groups.matchAll(/^ {2}([a-z]+) /gm)].flatMap((match) => match[1] ?? [])
    const [general, ...titles] = sections.map(({ title }) => title)
    expect(general).toBe('In general')
    expect(titles.toSorted()).toEqual(names.filter((name) => name !== 'help').toSorted())
  })

  it.each(sections.filter(({ commands }) => commands.length > 0))(
    'has commands under $title that end as it says',
    ({ commands }) => runAll(commands),
  )
})

/** One after the other, against a server that is theirs. */
async function runAll(commands: readonly Documented[]): Promise<void> {
  const { url, folder } = await served()
  const PATH = `${folder}${delimiter}${process.env['PATH'] ?? ''}`
  const env = { HOLDFAST_URL: url, HOME: folder, XDG_STATE_HOME: join(folder, 'state'), PATH }
  for (const { line, code } of commands) {
    const isEndless = endless.test(line)
    const command = new OwnedProcess({
      program: '/bin/bash',
      arguments: ['-c', isEndless ? `exec ${line}` : line],
      env,
      folder,
    })
    onTestFinished(async () => void (await command.end('SIGKILL')))
    if (isEndless) {
      await Promise.race([command.line(/./), command.ended])
      command.signal('SIGINT')
    }
    const end = await command.ended
    const said = [line, ...command.stdout, ...command.stderr].join('\n')
    expect(isEndless ? [0, 130] : [code], said).toContain(end.code)
  }
}

/** A server on a file, with a token that it made, in a folder where `holdfast` is the program. */
async function served(): Promise<{ readonly url: string; readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-docs-'))
  writeFileSync(join(folder, 'holdfast'), `#!/bin/sh\nexec '${process.execPath}' '${root}/bin/holdfast.js' "$@"\n`)
  chmodSync(join(folder, 'holdfast'), 0o755)
  const server = new OwnedProcess({
    arguments: [inject('program'), 'serve', '--port', '0'],
    env: { HOME: folder, XDG_STATE_HOME: join(folder, 'state') },
    folder,
  })
  onTestFinished(async () => {
    await server.end('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const [, url = ''] = await server.line(/^holdfast listening on (\S+)$/)
  return { url, folder }
}
