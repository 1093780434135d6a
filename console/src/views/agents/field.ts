/** A part of an agent's input as a person fills it in, read from its JSON Schema. */
export type Field = {
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
} & (
  | {
      readonly kind: 'text'
      readonly minLength?: number
      readonly maxLength?: number
      readonly pattern?: string
      readonly format?: string
    }
  | { readonly kind: 'number'; readonly isWhole: boolean; readonly minimum?: number; readonly maximum?: number }
  | { readonly kind: 'flag' }
  | { readonly kind: 'choice'; readonly options: readonly unknown[] }
  | { readonly kind: 'list'; readonly item: Field }
  | { readonly kind: 'group'; readonly members: readonly Member[] }
  /** What has no form of its own is written as JSON. */
  | { readonly kind: 'json' }
)

export interface Member {
  readonly name: string
  readonly field: Field
  readonly isRequired: boolean
}

type Schema = Readonly<Record<string, unknown>>

// A schema may contain itself; below this it is written as JSON.
const depthMax = 6

export function fieldOf(schema: object, root: object = schema, depth = 0): Field {
  const found = plain(resolved(schema as Schema, root as Schema))
  const { title, description, default: fallback } = found
  const notes = {
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    ...(fallback !== undefined && { default: fallback }),
  }
  return { ...notes, ...shapeOf(found, root, depth) }
}

function shapeOf(schema: Schema, root: object, depth: number): Field {
  if (depth > depthMax) return { kind: 'json' }
  const options = optionsOf(schema)
  if (options) return { kind: 'choice', options }
  switch (schema['type']) {
    case 'string':
      return { kind: 'text', ...numbers(schema, ['minLength', 'maxLength']), ...texts(schema, ['pattern', 'format']) }
    case 'number':
    case 'integer':
      return { kind: 'number', isWhole: schema['type'] === 'integer', ...numbers(schema, ['minimum', 'maximum']) }
    case 'boolean':
      return { kind: 'flag' }
    case 'array':
      return isObject(schema['items'])
        ? { kind: 'list', item: fieldOf(schema['items'], root, depth + 1) }
        : { kind: 'json' }
    case 'object':
      return groupOf(schema, root, depth)
    default:
      return isObject(schema['properties']) ? groupOf(schema, root, depth) : { kind: 'json' }
  }
}

function groupOf(schema: Schema, root: object, depth: number): Field {
  const properties = schema['properties']
  // A record of any names has no members to show.
  if (!isObject(properties) || Object.keys(properties).length === 0) return { kind: 'json' }
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []
  const members = Object.entries(properties).flatMap(([name, member]) =>
    isObject(member) ? [{ name, field: fieldOf(member, root, depth + 1), isRequired: required.includes(name) }] : [],
  )
  return { kind: 'group', members }
}

/** Follows `$ref` within the schema. */
function resolved(schema: Schema, root: Schema): Schema {
  let found = schema
  for (let hops = 0; typeof found['$ref'] === 'string' && hops < depthMax; hops += 1) {
    const { $ref, ...notes } = found as Schema & { readonly $ref: string }
    if (!$ref.startsWith('#/')) return {}
    const keys = $ref
      .slice(2)
      .split('/')
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    const target = keys.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), root)
    found = isObject(target) ? { ...target, ...notes } : {}
  }
  return found
}

/** One that may also be null is left out instead; one that is nothing but a choice of one is that. */
function plain(schema: Schema): Schema {
  const { type } = schema
  if (Array.isArray(type)) {
    const others = type.filter((name) => name !== 'null')
    return { ...schema, type: others.length === 1 ? others[0] : undefined }
  }
  const either = schema['anyOf'] ?? schema['oneOf']
  if (!Array.isArray(either)) return schema
  const others = either.filter((one): one is Schema => isObject(one) && one['type'] !== 'null')
  const [only] = others
  return others.length === 1 && only ? { ...schema, ...only } : schema
}

function optionsOf(schema: Schema): readonly unknown[] | undefined {
  if (Array.isArray(schema['enum'])) return schema['enum'].filter((option) => option !== null)
  if ('const' in schema) return [schema['const']]
  const either = schema['anyOf'] ?? schema['oneOf']
  if (!Array.isArray(either) || !either.every((one) => isObject(one) && 'const' in one)) return undefined
  return either.map((one: Schema) => one['const'])
}

function numbers<Name extends string>(schema: Schema, names: readonly Name[]): { [Key in Name]?: number } {
  const found = names.flatMap((name) => (typeof schema[name] === 'number' ? [[name, schema[name]] as const] : []))
  return Object.fromEntries(found) as { [Key in Name]?: number }
}

function texts<Name extends string>(schema: Schema, names: readonly Name[]): { [Key in Name]?: string } {
  const found = names.flatMap((name) => (typeof schema[name] === 'string' ? [[name, schema[name]] as const] : []))
  return Object.fromEntries(found) as { [Key in Name]?: string }
}

export function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
