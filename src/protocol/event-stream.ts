/** An event that is encoded already: one line of JSON, which holds no line break of its own. */
interface Encoded {
  readonly seq: number
  readonly text: string
}

/** Tells a browser how soon to come back after its connection broke. */
export const sseRetry = 'retry: 1000\n\n'
/** Says that the connection is alive, and nothing else. */
export const sseComment = ':\n\n'
/** As `sseComment`, for NDJSON: readers skip empty lines. */
export const ndjsonBeat = '\n'

export function sseFrame({ seq, text }: Encoded): string {
  return `id: ${seq}\ndata: ${text}\n\n`
}

/** Without an id: there is no number by which a stream of several threads could be resumed. */
export function sseLiveFrame({ text }: Pick<Encoded, 'text'>): string {
  return `data: ${text}\n\n`
}

export function ndjsonLine({ text }: Pick<Encoded, 'text'>): string {
  return `${text}\n`
}
