import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli } from './harness/cli.ts'

let folder = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-completion-'))
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout, stderr } = await cli(['completion', shell])
    expect([shell, code, stderr]).toEqual([shell, 0, ''])
    writeFileSync(join(folder, shell), stdout)
  }
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function has(shell: string): boolean {
  return spawnSync('which', [shell]).status === 0
}

/** What bash offers for the last of these words. */
function offered(...words: readonly string[]): string[] {
  const script = `source "$1"; shift; COMP_WORDS=(holdfast "$@"); COMP_CWORD=$#; _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`
  const output = execFileSync('bash', ['--norc', '-ec', script, 'bash', join(folder, 'bash'), ...words], {
    encoding: 'utf8',
  })
  return output.split('\n').filter(Boolean)
}

describe.runIf(has('bash'))('completion in bash', () => {
  it('knows the commands, also after flags that take a value', () => {
    expect(offered('')).toEqual(
      expect.arrayContaining(['serve', 'ps', 'tree', 'inspect', 'threads', 'completion', 'help']),
    )
    expect(offered('th')).toEqual(['threads'])
    expect(offered('--url', 'http://x', '--json', 'insp')).toEqual(['inspect'])
  })

  it('knows the flags of a command, and those of all', () => {
    expect(offered('ps', '--')).toEqual(expect.arrayContaining(['--watch', '--tree', '--json', '--timeout', '--help']))
    expect(offered('threads', '--')).not.toContain('--watch')
    expect(offered('--no')).toEqual(['--no-color'])
  })

  it('knows what a flag or an argument is one of', () => {
    expect(offered('ps', '--status', '')).toEqual(['pending', 'running', 'completed', 'failed', 'cancelled'])
    expect(offered('ps', '--status', 'c')).toEqual(['completed', 'cancelled'])
    expect(offered('completion', '')).toEqual(['bash', 'zsh', 'fish'])
    expect(offered('help', 'tr')).toEqual(['tree'])
  })

  it('is bound to the program', () => {
    const bound = execFileSync('bash', [
      '--norc',
      '-ec',
      'source "$1"; complete -p holdfast',
      'bash',
      join(folder, 'bash'),
    ])
    expect(bound.toString()).toBe('complete -F _holdfast holdfast\n')
  })
})

describe.runIf(has('zsh'))('completion in zsh', () => {
  it('is a script that zsh takes', () => {
    execFileSync('zsh', ['-fn', join(folder, 'zsh')])
  })
})

describe.runIf(has('fish'))('completion in fish', () => {
  it('knows commands and flags', () => {
    const offers = (line: string) =>
      execFileSync('fish', ['-Nc', `source $argv[1]; complete -C $argv[2]`, join(folder, 'fish'), line], {
        encoding: 'utf8',
      })
    expect(offers('holdfast thr')).toContain('threads')
    expect(offers('holdfast ps --wat')).toContain('--watch')
  })
})
