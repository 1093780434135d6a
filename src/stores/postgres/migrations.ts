import { readdirSync, readFileSync } from 'node:fs'

export interface Migration {
  readonly number: number
  readonly name: string
}

const folder = new URL('./migrations/', import.meta.url)

/** All that this program knows, in their order. */
export function migrations(): Migration[] {
  const names = readdirSync(folder).filter((name) => /^[0-9]{4}_.*\.sql$/.test(name))
  return names.sort().map((name) => ({ number: Number(name.slice(0, 4)), name }))
}

export function migrationText({ name }: Migration): string {
  return readFileSync(new URL(name, folder), 'utf8')
}
