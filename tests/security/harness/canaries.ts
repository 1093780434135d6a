import { randomBytes } from 'node:crypto'

/** Secrets by the place where they are planted. Each can be told from every other, and comes up nowhere by chance. */
export class Canaries {
  readonly #planted = new Map<string, string>()

  /** The secret of this place. `form` is put before it, where a secret needs to look like one. */
  plant(where: string, form = ''): string {
    const known = this.#planted.get(where)
    if (known !== undefined) return known
    const secret = `${form}canary-${randomBytes(12).toString('hex')}`
    this.#planted.set(where, secret)
    return secret
  }

  /** One that the server or a browser made itself. */
  keep(where: string, secret: string): void {
    this.#planted.set(where, secret)
  }

  /** Where secrets are found in a text that should have none, in whatever way they are written. */
  foundIn(place: string, text: string | Buffer): string[] {
    const searched = typeof text === 'string' ? text : text.toString('latin1')
    return [...this.#planted].flatMap(([where, secret]) =>
      spellings(secret).some((each) => searched.includes(each)) ? [`${where} is in ${place}`] : [],
    )
  }

  get count(): number {
    return this.#planted.size
  }
}

function spellings(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  return [
    secret,
    asInJson(secret),
    // JSON in a text of JSON, and that in another.
    asInJson(asInJson(secret)),
    asInJson(asInJson(asInJson(secret))),
    encodeURIComponent(secret),
    // The last characters of these depend on what stands behind.
    bytes.toString('base64').replace(/=+$/, '').slice(0, -2),
    bytes.toString('base64url').slice(0, -2),
    bytes.toString('hex'),
  ]
}

function asInJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
