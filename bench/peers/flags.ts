import { parseArgs } from 'node:util'

export interface Flags<Peer extends string, Row extends string> {
  readonly only: readonly Peer[]
  readonly rows: readonly Row[]
  readonly isQuick: boolean
}

/** Reads `--only peer,…`, `--rows row,…` and `--quick`; an unknown name is an error that lists the known ones. */
export function readFlags<Peer extends string, Row extends string>(
  args: readonly string[],
  peers: readonly Peer[],
  rows: readonly Row[],
): Flags<Peer, Row> {
  const { values } = parseArgs({
    args: [...args],
    options: { only: { type: 'string' }, rows: { type: 'string' }, quick: { type: 'boolean', default: false } },
  })
  return {
    only: chosen('only', values.only, peers),
    rows: chosen('rows', values.rows, rows),
    isQuick: values.quick,
  }
}

function chosen<Name extends string>(flag: string, text: string | undefined, known: readonly Name[]): readonly Name[] {
  if (text === undefined) return known
  const asked = text.split(',').map((name) => name.trim())
  const unknown = asked.find((name) => !known.some((one) => one === name))
  if (unknown !== undefined) throw new Error(`--${flag}: there is no ${unknown}; choose from ${known.join(', ')}`)
  return known.filter((name) => asked.includes(name))
}
