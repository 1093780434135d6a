import { nastyTexts } from '../../../src/chaos/hostile/words.ts'
import type { SeededRandom } from '../../../src/chaos/seeded-random.ts'

/** As much of JSON Schema as our documents use. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
}

/** Makes values of schemas, some of them wrong. */
export interface Maker {
  readonly random: SeededRandom
  /** Which share of all values is not what the schema wants. */
  readonly wrongness: number
  /** What a `$ref` names. */
  resolve(reference: string): Schema
  /** Values that mean something under a name, such as ids that are there. */
  readonly known: Readonly<Record<string, readonly unknown[]>>
}

const depthMax = 6

/** Of these exactly one is right, which no schema says. */
const alternatives: readonly (readonly string[])[] = [
  ['prompt', 'parts', 'input'],
  ['token', 'code'],
]

const plainTexts = [
  't',
  'a b',
  'hello',
  'completed',
  'completed,failed',
  'task.completed',
  '1',
  '0',
  '100',
  'name-1',
  'é',
]

const wrongValues: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e21, -0, 2 ** 53, 2 ** 31, '', [], {}, [[]], [null], { a: { b: [] } }],
  ...['__proto__', 'constructor', 'toString'].map((name) => ({ [name]: { name } })),
]

export function pickFrom<Item>({ random }: Pick<Maker, 'random'>, items: readonly Item[]): Item {
  return random.pick(items) as Item
}

/** A value for a schema, under the name that it has where it stands. */
export function madeValue(maker: Maker, schema: Schema, name = '', depth = 0): unknown {
  const { random, wrongness } = maker
  if (random.chance(wrongness)) return wrongValue(maker)
  const known = maker.known[name]
  if (known && random.chance(0.9)) return pickFrom(maker, known)
  if (schema.$ref !== undefined) return madeValue(maker, maker.resolve(schema.$ref), name, depth)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return madeValue(maker, pickFrom(maker, choices), name, depth)
  if (schema.allOf)
    return Object.assign({}, ...schema.allOf.map((each) => madeValue(maker, each, name, depth))) as object
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return pickFrom(maker, schema.enum)
  const type = typeof schema.type === 'object' ? pickFrom(maker, schema.type) : schema.type
  return typedValue(maker, schema, type, depth)
}

function typedValue(maker: Maker, schema: Schema, type: string | undefined, depth: number): unknown {
  const { random } = maker
  switch (type) {
    case 'string':
      return textOf(maker, schema.pattern)
    case 'integer':
    case 'number':
      return numberOf(maker, schema)
    case 'boolean':
      return random.chance(0.5)
    case 'null':
      return null
    case 'array':
      return Array.from({ length: depth > depthMax ? 0 : random.below(4) }, () =>
        madeValue(maker, schema.items ?? {}, '', depth + 1),
      )
    case 'object':
      return objectOf(maker, schema, depth)
    default:
      return anyJson(maker, depth)
  }
}

function objectOf(maker: Maker, { properties = {}, required = [] }: Schema, depth: number): object {
  const { random, wrongness } = maker
  const object: Record<string, unknown> = {}
  const group = alternatives.find((names) => names.every((name) => Object.hasOwn(properties, name))) ?? []
  const chosen = random.chance(1 - wrongness) ? random.pick(group) : undefined
  for (const [name, schema] of Object.entries(properties)) {
    const isLeftOut = chosen !== undefined && name !== chosen && group.includes(name)
    const share = required.includes(name) || name === chosen ? 1 - wrongness : 0.3
    if (isLeftOut) continue
    if (depth <= depthMax && random.chance(share)) object[name] = madeValue(maker, schema, name, depth + 1)
  }
  if (random.chance(wrongness)) object[pickFrom(maker, nastyTexts)] = wrongValue(maker)
  return object
}

function textOf(maker: Maker, pattern: string | undefined): string {
  if (pattern === undefined) return pickFrom(maker, [...plainTexts, ...nastyTexts])
  const fitting = plainTexts.filter((text) => new RegExp(pattern).test(text))
  return fitting.length > 0 ? pickFrom(maker, fitting) : 'x'
}

function numberOf({ random }: Maker, { minimum = -1000, maximum = 1000 }: Schema): number {
  const [least, most] = [Math.max(minimum, -1e9), Math.min(maximum, 1e9)]
  if (random.chance(0.2)) return random.chance(0.5) ? minimum : maximum
  return least + random.below(Math.max(1, Math.min(most - least, 2000)))
}

function anyJson(maker: Maker, depth: number): unknown {
  const { random } = maker
  if (depth < depthMax && random.chance(0.2)) return [anyJson(maker, depth + 1), anyJson(maker, depth + 1)]
  if (depth < depthMax && random.chance(0.2)) return { [pickFrom(maker, plainTexts)]: anyJson(maker, depth + 1) }
  return pickFrom<unknown>(maker, [...plainTexts, 1, true, null])
}

function wrongValue(maker: Maker): unknown {
  return pickFrom<unknown>(maker, [...wrongValues, ...nastyTexts])
}
