import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { errorMessage } from './error-message.ts'
import type { Surroundings } from './surroundings.ts'
import { wrong } from './wrong.ts'

/** The text that was given as an argument; `-` stands for what comes on stdin, without the line end that ends it. */
export async function argumentText(given: string, around: Surroundings): Promise<string> {
  if (given !== '-') return given
  const read = (await text(around.input)).replace(/\r?\n$/, '')
  if (read === '') throw wrong('Nothing came on stdin')
  return read
}

/** The JSON that was given: as it is, or with `@` the name of a file that holds it; `@-` is stdin. */
export async function argumentJson(given: string, around: Surroundings): Promise<unknown> {
  const source = given.startsWith('@') ? given.slice(1) : undefined
  const json = source === undefined ? given : await sourceText(source, around)
  try {
    return JSON.parse(json) as unknown
  } catch (error) {
    const where = source === undefined ? '--input' : `--input ${given}`
    throw wrong(`${where} is no JSON: ${errorMessage(error)}`)
  }
}

async function sourceText(source: string, around: Surroundings): Promise<string> {
  if (source === '-') return text(around.input)
  try {
    return await readFile(resolve(around.folder, source), 'utf8')
  } catch (error) {
    throw wrong(`--input @${source} cannot be read: ${errorMessage(error)}`)
  }
}
