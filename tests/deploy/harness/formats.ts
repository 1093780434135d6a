import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../../..')

export function fileText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

export interface Instruction {
  readonly name: string
  readonly text: string
}

/** The instructions of a Dockerfile, by stage. */
export function dockerStages(text: string): readonly (readonly Instruction[])[] {
  const lines = text.replaceAll(/\\\n/g, ' ').split('\n')
  const stages: Instruction[][] = []
  for (const line of lines.filter((each) => each.trim() !== '' && !each.startsWith('#'))) {
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
    if (name === '') throw new Error(`This is no instruction: ${line}`)
    if (name === 'FROM') stages.push([])
    stages.at(-1)?.push({ name, text: rest.trim() })
  }
  return stages
}

/** What follows the options of an instruction in exec form. */
export function execForm(text: string): readonly string[] {
  const words: unknown = JSON.parse(text.slice(text.indexOf('[')))
  if (!Array.isArray(words) || !words.every((word) => typeof word === 'string')) throw new Error(`Not words: ${text}`)
  return words
}

/** The sections of a unit of systemd: each key with all its values. */
export function unitSections(text: string): ReadonlyMap<string, ReadonlyMap<string, readonly string[]>> {
  const sections = new Map<string, Map<string, string[]>>()
  let section: Map<string, string[]> | undefined
  for (const line of text.split('\n').filter((each) => each.trim() !== '' && !each.startsWith('#'))) {
    const [, title] = /^\[([A-Za-z]+)\]$/.exec(line) ?? []
    if (title !== undefined) {
      section = new Map()
      sections.set(title, section)
      continue
    }
    const [, key = '', value = ''] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? []
    if (key === '' || !section) throw new Error(`This is no line of a unit: ${line}`)
    section.set(key, [...(section.get(key) ?? []), value])
  }
  return sections
}

interface Block {
  readonly words: readonly string[]
  readonly blocks: readonly Block[]
}

/** Directives of nginx (`isLined` false) or Caddy (one per line), with those in their braces. */
export function directives(text: string, { isLined }: { readonly isLined: boolean }): readonly Block[] {
  const plain = text.replaceAll(/(^|\s)#.*$/gm, '$1')
  const tokens = plain.match(isLined ? /\{\$[^}]*\}|[{}\n]|[^\s{}]+/g : /'[^']*'|[{};]|[^\s{};]+/g) ?? []
  const ends = isLined ? '\n' : ';'
  const stack: { words: string[]; blocks: Block[] }[] = [{ words: [], blocks: [] }]
  let words: string[] = []
  const finish = () => {
    if (words.length > 0) stack.at(-1)?.blocks.push({ words, blocks: [] })
    words = []
  }
  for (const token of tokens) {
    if (token === ends) finish()
    else if (token === '{') {
      stack.push({ words, blocks: [] })
      words = []
    } else if (token === '}') {
      finish()
      const block = stack.pop()
      if (!block || stack.length === 0) throw new Error('A brace is closed that was not opened')
      stack.at(-1)?.blocks.push(block)
    } else words.push(token)
  }
  const [top, ...open] = stack
  if (!top || open.length > 0 || words.length > 0) throw new Error('Something is not finished')
  return top.blocks
}

/** The blocks under directives of a name, wherever they stand. */
export function under(blocks: readonly Block[], name: string): readonly Block[] {
  return blocks.flatMap((block) => [...(block.words[0] === name ? [block] : []), ...under(block.blocks, name)])
}
