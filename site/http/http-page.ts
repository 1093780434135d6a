import { codeBlock } from '../code/code-block.ts'
import { type Html, html } from '../html.ts'
import { headingOf, renderLine } from '../markdown/markdown.ts'
import { httpApi } from '../outline.ts'
import type { Heading, Page, Section } from '../page.ts'
import { between, placeOf } from '../places.ts'
import type { OpenApiDocument, Operation } from './document.ts'
import { operationHtml, operationText } from './operation.ts'
import { fieldsOf } from './schema-fields.ts'
import { schemaCode, schemaId } from './schema-text.ts'

/** In the order of the page; the first that matches a path counts. */
const groups: readonly (readonly [title: string, paths: RegExp])[] = [
  ['Runs and tasks', /^\/v1\/(threads\/\{thread\}\/(runs|tasks)$|tasks)/],
  ['Events', /\/events$/],
  ['Results', /\/results/],
  ['Questions', /^\/v1\/questions/],
  ['Threads', /^\/v1\/threads/],
  ['Logging in', /^\/v1\/log(in|out)$/],
  ['The server', /^/],
]

interface Placed {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

/** The reference of the HTTP API, from the document that the server serves. */
export function httpPage(document: OpenApiDocument): Page {
  const place = placeOf(httpApi)
  const grouped = operationsOf(document)
  const schemas = Object.entries(document.components.schemas)
  const body = html`<h1>HTTP API</h1>
<p>Every operation of the server, made from the OpenAPI ${document.openapi} document that it serves as <code>/openapi.json</code>. What the parts mean to each other is said in the <a href="${between(place, placeOf('docs/protocol.md'))}">protocol</a>; what each problem means, in <a href="${between(place, placeOf('docs/errors.md'))}">errors</a>.</p>
<p>The examples ask a server on this machine, whose token is in a file:</p>
${codeBlock('TOKEN=$(cat ~/.local/state/holdfast/token)', 'sh')}
${grouped.map(
  ([title, operations]) => html`${headingOf(2, groupId(title), html`${title}`)}
${operations.map(({ method, path, operation }) => operationHtml(method, path, operation, document))}`,
)}
${headingOf(2, 'schemas', html`Schemas`)}
${schemas.map(([name, schema]) => schemaHtml(name, schema))}`
  return {
    source: httpApi,
    place,
    title: 'HTTP API',
    body,
    contents: contentsOf(
      grouped,
      schemas.map(([name]) => name),
    ),
    sections: [...grouped.flatMap(([, operations]) => operations.map(sectionOf)), ...schemas.map(schemaSection)],
  }
}

function operationsOf({ paths }: OpenApiDocument): readonly (readonly [string, readonly Placed[]])[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Placed => ({ method, path, operation })),
  )
  const byTitle = Map.groupBy(all, ({ path }) => groups.find(([, paths]) => paths.test(path))?.[0] ?? '')
  return groups.flatMap(([title]) => {
    const operations = byTitle.get(title)
    return operations ? [[title, operations] as const] : []
  })
}

function groupId(title: string): string {
  return title.toLowerCase().replaceAll(' ', '-')
}

function schemaHtml(name: string, schema: OpenApiDocument['components']['schemas'][string]): Html {
  const { text, links } = schemaCode(schema, `type ${name} =`)
  return html`<section class="api-name">
${headingOf(3, schemaId(name), html`<code>${name}</code>`)}
${schema.description && html`<p>${renderLine(schema.description, nowhere)}</p>`}
${schema.properties ? fieldsOf(schema) : codeBlock(text, 'ts', links)}
</section>\n`
}

const nowhere = { link: (href: string) => href, picture: (source: string) => source }

function contentsOf(grouped: readonly (readonly [string, readonly Placed[]])[], schemas: readonly string[]): Heading[] {
  return [
    ...grouped.flatMap(([title, operations]) => [
      { id: groupId(title), text: title, depth: 2 },
      ...operations.map(({ operation }) => ({ id: operation.operationId, text: operation.summary, depth: 3 })),
    ]),
    { id: 'schemas', text: 'Schemas', depth: 2 },
    ...schemas.map((name) => ({ id: schemaId(name), text: name, depth: 3 })),
  ]
}

function sectionOf({ method, path, operation }: Placed): Section {
  return {
    id: operation.operationId,
    heading: `${method.toUpperCase()} ${path}`,
    text: `${operation.summary}\n${operationText(operation)}`,
  }
}

function schemaSection([name, schema]: [string, OpenApiDocument['components']['schemas'][string]]): Section {
  return { id: schemaId(name), heading: name, text: schemaCode(schema).text.trim() }
}
