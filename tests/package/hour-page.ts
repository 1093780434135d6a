import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const page = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/first-hour.md'), 'utf8')

export interface Part {
  /** The blocks of commands, in their order. */
  readonly commands: readonly string[]
  /** Files that the reader writes, by the name in their first line. */
  readonly files: Readonly<Record<string, string>>
}

/** The titles of the parts, in their order. */
export const titles = [...page.matchAll(/^## (.+)$/gm)].map(([, title = '']) => title)

export function partOf(title: string): Part {
  const text = page.split(/^## /m).find((section) => section.startsWith(`${title}\n`)) ?? ''
  const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', content = '']) => ({
    language,
    content,
  }))
  const commands = blocks.filter(({ language }) => language === 'sh').map(({ content }) => content)
  if (commands.length === 0) throw new Error(`docs/first-hour.md has no commands under ${title}`)
  const files = blocks
    .filter(({ language }) => language !== 'sh')
    .map(({ content }) => {
      const [, name] = /^(?:\/\/|<!--) (\S+)/.exec(content) ?? []
      if (name === undefined) throw new Error(`A file under ${title} has no name in its first line`)
      return [name, content] as const
    })
  return { commands, files: Object.fromEntries(files) }
}
