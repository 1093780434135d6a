const mask = '[redacted]'

const secretKeys: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'token',
  'tokens',
  'x-api-key',
  'api-key',
  'apikey',
]

// The password of a database in its URL.
const inUrl = /(\bpostgres(?:ql)?:\/\/[^\s/@:]*):[^\s/]*@/gi

// Credentials as they stand inside a longer text, whoever they belong to: also a wrong token is somebody's secret.
const credential = /\b(bearer[ .]+|holdfast=|login=)[A-Za-z0-9!-+./:=@^_~-]+/gi

// No name of a fact is as long. What is shorter may be one of ours, and hiding it would hide what the line is about.
const nameLengthMax = 15

/**
 * Takes secrets out of lines of JSON: the given values wherever they stand, also within JSON that is the text of a value, what looks
 * like a credential, and what is kept under a name that says so. A line without any of these is not even parsed.
 */
export function redactor(known: readonly string[]): (line: string) => string {
  // The longest first: of a secret that another one is a part of, the rest would stay.
  const secrets = [...new Set(known.flatMap(spellings))].toSorted((one, other) => other.length - one.length)
  const escaped = secrets.map(asInJson)
  const suspicious = new RegExp(`"(${secretKeys.join('|')})":|${credential.source}|${inUrl.source}`, 'i')
  return (line) => {
    if (!suspicious.test(line) && !escaped.some((secret) => line.includes(secret))) return line
    return `${JSON.stringify(parsed(line), (key, value: unknown) => redacted(key, value, secrets))}\n`
  }
}

/** A secret as it is, as JSON writes it, and as JSON within JSON does. Most are the same in all of these. */
function spellings(secret: string): readonly string[] {
  return [secret, asInJson(secret), asInJson(asInJson(secret))]
}

function asInJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** What is no JSON, because some value wrote itself wrongly, is still a line that somebody wants to read. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return { msg: line }
  }
}

function redacted(key: string, value: unknown, secrets: readonly string[]): unknown {
  if (secretKeys.includes(key.toLowerCase())) return mask
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return withoutSecretNames(value, secrets)
  if (typeof value !== 'string') return value
  const withoutSecrets = secrets.reduce((text, secret) => text.replaceAll(secret, mask), value)
  return withoutSecrets.replace(credential, `$1${mask}`).replace(inUrl, `$1:${mask}@`)
}

/** Somebody may have kept something under a secret. */
function withoutSecretNames(facts: object, secrets: readonly string[]): object {
  const long = secrets.filter((secret) => secret.length > nameLengthMax)
  if (!Object.keys(facts).some((name) => long.some((secret) => name.includes(secret)))) return facts
  const named = (name: string): string => long.reduce((text, secret) => text.replaceAll(secret, mask), name)
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [named(name), value]))
}
