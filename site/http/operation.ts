import { codeBlock, codeLine } from '../code/code-block.ts'
import { type Html, html } from '../html.ts'
import { headingOf, renderLine } from '../markdown/markdown.ts'
import { httpApi } from '../outline.ts'
import { between, placeOf } from '../places.ts'
import type { Answer, OpenApiDocument, Operation, Schema } from './document.ts'
import { curlOf, exampleOf } from './examples.ts'
import { fieldOf, fieldsOf } from './schema-fields.ts'
import { schemaCode } from './schema-text.ts'

/** One operation: what it takes, what it answers, what may go wrong, and how to try it. */
export function operationHtml(method: string, path: string, operation: Operation, document: OpenApiDocument): Html {
  const { parameters = [], responses } = operation
  const answers = Object.entries(responses)
  const good = answers.filter(([status]) => Number(status) < 400)
  const problems = answers.filter(([status]) => Number(status) >= 400)
  return html`<section class="api-name">
${headingOf(3, operation.operationId, html`${operation.summary}`)}
<p class="operation"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code>${
    operation.security.length === 0 && html` <span class="kind">open to anybody</span>`
  }</p>
${
  parameters.length > 0 &&
  html`<h4>Parameters</h4>
<ul class="members">${parameters.map(({ name, schema, required = false, description, in: place }) =>
    fieldOf(name, schema, required, description ?? schema.description, place),
  )}</ul>`
}
${bodyHtml(operation, document)}
<h4>Answers</h4>
<ul class="members">${good.map(([status, answer]) => answerHtml(status, answer))}</ul>
<h4>Problems</h4>
<ul class="problems">${problems.map(([status, { description }]) => problemHtml(status, description))}</ul>
<h4>Example</h4>
${codeBlock(curlOf(exampleOf(method, path, operation)), 'sh')}
</section>\n`
}

/** What a search finds of an operation. */
export function operationText({ parameters = [], requestBody, responses }: Operation): string {
  const bodies = Object.values(requestBody?.content ?? {}).map(({ schema }) => schemaCode(schema).text)
  const answers = Object.entries(responses).map(([status, { description }]) => `${status} ${description}`)
  return [...parameters.map(({ name, description = '' }) => `${name} ${description}`), ...bodies, ...answers]
    .join('\n')
    .replaceAll('`', '')
}

function bodyHtml({ requestBody }: Operation, document: OpenApiDocument): Html | undefined {
  const schema = requestBody?.content['application/json']?.schema
  if (!schema) return undefined
  const known = resolved(schema, document)
  const { text, links } = schemaCode(known, 'type Body =')
  return html`<h4>Body${!requestBody.required && html` <span class="kind">optional</span>`}</h4>
${known.properties ? fieldsOf(known) : codeBlock(text, 'ts', links)}`
}

function resolved(schema: Schema, { components }: OpenApiDocument): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return (name && components.schemas[name]) || schema
}

function answerHtml(status: string, { description, content = {}, headers = {} }: Answer): Html {
  const forms = Object.entries(content).map(([mediaType, { schema }]) => {
    const { text, links } = schemaCode(schema)
    return html`<li><code>${mediaType}</code> ${codeLine(text, links)}</li>`
  })
  const sent = Object.entries(headers).map(
    ([name, header]) => html`<li>Header <code>${name}</code>: ${line(header.description ?? '')}</li>`,
  )
  return html`<li><span class="status">${status}</span> ${line(description)}${
    forms.length + sent.length > 0 && html`<ul>${forms}${sent}</ul>`
  }</li>\n`
}

/** The description of a problem is the codes that it may have, each of which has a paragraph. */
function problemHtml(status: string, description: string): Html {
  const errors = between(placeOf(httpApi), placeOf('docs/errors.md'))
  const codes = [...description.matchAll(/`(\w+)`/g)].map(([, code = '']) => code)
  const links = codes.map((code, n) => html`${n > 0 && ' '}<a href="${errors}#${code}"><code>${code}</code></a>`)
  return html`<li><span class="status">${status}</span> ${links}</li>\n`
}

function line(text: string): Html {
  return renderLine(text, { link: (href) => href, picture: (source) => source })
}
