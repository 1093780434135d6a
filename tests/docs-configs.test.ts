import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { programsIn } from './docs-program.ts'

const root = resolve(import.meta.dirname, '..')

/** The config files that the pages show, by a name that no file has. */
function shownConfigs(): Map<string, string> {
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
  const found = pages.flatMap((page) =>
    programsIn(readFileSync(join(root, 'docs', page), 'utf8')).map((text) => ({ page, text })),
  )
  const configs = found.filter(({ text }) => text.includes('satisfies Config'))
  return new Map(configs.map(({ page, text }, n) => [join(root, `${page}-${n}.ts`), text]))
}

/** What the compiler has to say of programs that are in no file. */
function complaints(texts: ReadonlyMap<string, string>): string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile) as { config: unknown }
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const host = ts.createCompilerHost(options)
  const onDisk = { fileExists: host.fileExists, readFile: host.readFile }
  host.fileExists = (file) => texts.has(file) || onDisk.fileExists(file)
  host.readFile = (file) => texts.get(file) ?? onDisk.readFile(file)
  const program = ts.createProgram([...texts.keys()], options, host)
  const found = [...texts.keys()].flatMap((file) => ts.getPreEmitDiagnostics(program, program.getSourceFile(file)))
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}

describe('the config files in the pages', () => {
  it('are as the type Config says, which refuses what is no setting', () => {
    const configs = shownConfigs()
    expect(configs.size).toBe(4)
    expect(complaints(configs)).toEqual([])
    const [[file = '', text = ''] = []] = configs
    const wrong = text.replace('export default {', 'export default { shutDownMs: 1,')
    expect(complaints(new Map([[file, wrong]])).join()).toContain('shutDownMs')
  })
})
