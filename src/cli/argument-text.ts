import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Cli } from './command.ts'
import { errorMessage } from './error-message.ts'
import { wrong } from './wrong.ts'

type Reading = Pick<Cli, 'around' | 'show'>

/** The text that was given as an argument; `-` stands for what comes on stdin, without the line end that ends it. */
export async function argumentText(given: string, what: string, cli: Reading): Promise<string> {
  if (given !== '-') return given
  const read = (await inputText(what, cli)).replace(/\r?\n$/, '')
  if (read === '') throw wrong('Nothing came on stdin')
  return read
}

/** The JSON that was given: as it is, or with `@` the name of a file that holds it; `@-` is stdin. */
export async function argumentJson(given: string, cli: Reading): Promise<unknown> {
  const source = given.startsWith('@') ? given.slice(1) : undefined
  const json = source === undefined ? given : await sourceText(source, cli)
  try {
    return JSON.parse(json) as unknown
  } catch (error) {
    const where = source === undefined ? '--input' : `--input ${given}`
    throw wrong(`${where} is no JSON: ${errorMessage(error)}`)
  }
}

/** Whoever types it has to know that something is waited for, and what ends it. */
function inputText(what: string, { around, show }: Reading): Promise<string> {
  if (around.isTty.input) show.notice(`Reading the ${what}; Ctrl-D on an empty line ends it`)
  return text(around.input)
}

async function sourceText(source: string, cli: Reading): Promise<string> {
  if (source === '-') return inputText('JSON', cli)
  try {
    return await readFile(resolve(cli.around.folder, source), 'utf8')
  } catch (error) {
    throw wrong(`--input @${source} cannot be read: ${errorMessage(error)}`)
  }
}
