import type { CodeLink } from '../code/highlight.ts'
import type { Schema } from './document.ts'

/** The id of a named schema on the page. */
export function schemaId(name: string): string {
  return `schema-${name}`
}

export interface SchemaCode {
  readonly text: string
  readonly links: readonly CodeLink[]
}

/** Stand around the name of a schema until it is known where that is in the text. */
const [begin, end] = ['⟦', '⟧']

/** A schema as a type of TypeScript, with its named parts as links. What stands before it is `head`. */
export function schemaCode(schema: Schema, head = ''): SchemaCode {
  const links: CodeLink[] = []
  let text = head
  for (const [n, piece] of typeText(schema, '').split(/[⟦⟧]/).entries()) {
    if (n % 2 === 1) links.push({ start: text.length, end: text.length + piece.length, href: `#${schemaId(piece)}` })
    text += piece
  }
  return { text, links }
}

/** What a schema asks of a value beside its type, in words. */
export function conditionsOf(schema: Schema): readonly string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema
  return [
    range(minimum, maximum, ''),
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' items'),
    pattern === undefined ? '' : `matches \`${pattern}\``,
    schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\` unless given`,
  ].filter((text) => text !== '')
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`
  if (least !== undefined) return `at least ${counted(least, unit)}`
  if (most !== undefined) return `at most ${counted(most, unit)}`
  return ''
}

function counted(count: number, unit: string): string {
  return `${count}${count === 1 ? unit.replace(/s$/, '') : unit}`
}

function typeText(schema: Schema, indent: string): string {
  if (schema.$ref) return `${begin}${schema.$ref.split('/').at(-1)}${end}`
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  const either = schema.oneOf ?? schema.anyOf
  if (either) return unionText(either, indent)
  if (schema.allOf) return schema.allOf.map((part) => typeText(part, indent)).join(' & ')
  if (Array.isArray(schema.type)) {
    return schema.type.map((type: string) => typeText({ ...schema, type }, indent)).join(' | ')
  }
  if (schema.items) return `${bracketed(typeText(schema.items, indent))}[]`
  if (schema.properties) return objectText(schema, indent)
  if (schema.additionalProperties && schema.additionalProperties !== true) {
    return `Record<string, ${typeText(schema.additionalProperties, indent)}>`
  }
  return simpleText(schema.type)
}

function simpleText(type: Schema['type']): string {
  if (type === undefined) return 'unknown'
  return type === 'integer' ? 'number' : String(type)
}

function unionText(parts: readonly Schema[], indent: string): string {
  const texts = parts.map((part) => typeText(part, `${indent}    `))
  if (!texts.some((text) => text.includes('\n'))) return texts.join(' | ')
  return texts.map((text) => `\n${indent}  | ${text}`).join('')
}

function objectText(schema: Schema, indent: string): string {
  const inner = `${indent}  `
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const mark = schema.required?.includes(name) ? '' : '?'
    const key = /^\w+$/.test(name) ? name : `'${name}'`
    return `${key}${mark}: ${typeText(field, inner)}`
  })
  const short = `{ ${fields.join('; ')} }`
  if (short.length < 80 && !short.includes('\n')) return short
  return `{\n${fields.map((field) => `${inner}${field}\n`).join('')}${indent}}`
}

function bracketed(text: string): string {
  return text.includes(' | ') ? `(${text})` : text
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
}
