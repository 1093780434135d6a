import { highlight } from '../code/highlight.ts'
import { type Html, html } from '../html.ts'
import { renderLine } from '../markdown/markdown.ts'
import type { Schema } from './document.ts'
import { conditionsOf, schemaCode } from './schema-text.ts'

/** The fields of an object, each with what is said of it. */
export function fieldsOf({ properties = {}, required = [] }: Schema): Html {
  const fields = Object.entries(properties).map(([name, schema]) =>
    fieldOf(name, schema, required.includes(name), schema.description),
  )
  return html`<ul class="members">${fields}</ul>\n`
}

/** A field or a parameter; `note` says where it is given, if that must be said. */
export function fieldOf(name: string, schema: Schema, isRequired: boolean, description = '', note = ''): Html {
  const { text, links } = schemaCode(schema)
  const head = `${name}${isRequired ? '' : '?'}: `
  const said = capitalised([description, ...conditionsOf(schema)].filter((part) => part !== '').join(' · '))
  return html`<li><code class="signature">${head}${highlight(text, 'ts', links)}</code>${note && html` <span class="kind">${note}</span>`}${
    said && html`<p>${renderLine(said, { link: (href) => href, picture: (source) => source })}</p>`
  }</li>\n`
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
