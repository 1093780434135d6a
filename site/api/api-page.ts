import { codeBlock, codeLine } from '../code/code-block.ts'
import type { CodeLink } from '../code/highlight.ts'
import { type Html, html } from '../html.ts'
import { headingOf, renderText } from '../markdown/markdown.ts'
import type { Heading, Page, Section } from '../page.ts'
import { between, placeOf } from '../places.ts'
import type { SourceFiles } from '../source-files.ts'
import {
  type ApiKind,
  type ApiMember,
  type ApiName,
  type Code,
  type Declared,
  declaredKey,
  type EntryPoint,
  kinds,
} from './model.ts'

const headings: Readonly<Record<ApiKind, string>> = {
  function: 'Functions',
  class: 'Classes',
  interface: 'Interfaces',
  type: 'Types',
  constant: 'Constants',
}

const firstNames: ReadonlySet<string> = new Set([
  ...['createRuntime', 'serve', 'createClient', 'HoldfastProvider', 'useThread'],
  ...['aiSdkAgent', 'manualClock', 'chaos'],
])

/** The pages of what can be imported, one for each entry point. */
export function apiPages(entries: readonly EntryPoint[], sources: SourceFiles): readonly Page[] {
  return entries.map((entry) => apiPage(entry, (code) => linksOf(code, entry, entries, sources), sources, entries))
}

type LinksOf = (code: Code) => readonly CodeLink[]

function apiPage(entry: EntryPoint, links: LinksOf, sources: SourceFiles, entries: readonly EntryPoint[]): Page {
  const place = placeOf(entry.name)
  const groups = kinds
    .map((kind) => ({ kind, names: entry.names.filter((name) => name.kind === kind) }))
    .filter(({ names }) => names.length > 0)
  const body = html`<h1><code>${entry.name}</code></h1>
<p>Everything that <code>${entry.name}</code> exports, read from the sources.</p>
${codeBlock(`import { ${example(entry)} } from '${entry.name}'`, 'ts')}
${groups.map(
  ({ kind, names }) => html`${headingOf(2, kind, html`${headings[kind]}`)}
${names.map((name) => nameOf(name, links, sourceLink(place, name.declared, sources)))}`,
)}`
  return {
    source: entry.name,
    place,
    title: entry.name,
    body,
    contents: groups.flatMap(({ kind, names }) => [
      { id: kind, text: headings[kind], depth: 2 },
      ...names.map(({ name }): Heading => ({ id: name, text: name, depth: 3 })),
    ]),
    sections: entry.names
      .filter(({ declared }) => firstWith(entries, declared) === entry)
      .flatMap((name) => sectionsOf(name)),
  }
}

function nameOf(name: ApiName, links: LinksOf, source: Html): Html {
  const ids = new Map<string, number>()
  const heading = html`<code>${name.name}</code> <span class="kind">${name.kind}</span>`
  return html`<section class="api-name">
${headingOf(3, name.name, heading)}
${name.signatures.map((code) => codeBlock(code.text, 'ts', links(code)))}
${commentHtml(name.comment)}
${name.members.length > 0 && html`<ul class="members">${name.members.map((member) => memberOf(name, member, links, ids))}</ul>`}
<p class="declared">${source}</p>
</section>\n`
}

function memberOf(name: ApiName, member: ApiMember, links: LinksOf, ids: Map<string, number>): Html {
  const count = ids.get(member.name) ?? 0
  ids.set(member.name, count + 1)
  const id = `${name.name}.${member.name}${count === 0 ? '' : `-${count}`}`
  return html`<li id="${id}">${codeLine(member.code.text, links(member.code))}${commentHtml(member.comment)}</li>\n`
}

function commentHtml(comment: string): Html | undefined {
  if (comment === '') return undefined
  // Comments in the sources name things by their names, and lead nowhere.
  return renderText(comment, { link: (href) => href, picture: (source) => source })
}

/** What a program that uses the entry point begins with. */
function example({ names }: EntryPoint): string {
  return names.flatMap(({ name }) => (firstNames.has(name) ? name : [])).join(', ')
}

function linksOf(
  code: Code,
  entry: EntryPoint,
  entries: readonly EntryPoint[],
  sources: SourceFiles,
): readonly CodeLink[] {
  const place = placeOf(entry.name)
  return code.references.map(({ start, end, to }) => {
    const target = nameIn(entry, to) ? entry : firstWith(entries, to)
    const name = target && nameIn(target, to)
    if (!target || !name) return { start, end, href: between(place, sources.place(to.file, to.line)) }
    return {
      start,
      end,
      href: target === entry ? `#${name.name}` : `${between(place, placeOf(target.name))}#${name.name}`,
    }
  })
}

function firstWith(entries: readonly EntryPoint[], declared: Declared): EntryPoint | undefined {
  return entries.find((entry) => nameIn(entry, declared))
}

function nameIn(entry: EntryPoint, declared: Declared): ApiName | undefined {
  return entry.names.find((name) => declaredKey(name.declared) === declaredKey(declared))
}

function sourceLink(place: string, { file, line }: Declared, sources: SourceFiles): Html {
  return html`<a href="${between(place, sources.place(file, line))}">${file}, line ${line}</a>`
}

/** A name, and each of its members that says something of itself. */
function sectionsOf({ name, comment, signatures, members }: ApiName): readonly Section[] {
  const text = [comment, ...signatures.map((code) => code.text), ...members.map((member) => member.name)].join('\n')
  const documented = new Map(members.filter((member) => member.comment !== '').map((member) => [member.name, member]))
  return [
    { id: name, heading: name, text: withoutMarks(text) },
    ...[...documented.values()].map((member) => ({
      id: `${name}.${member.name}`,
      heading: `${name}.${member.name}`,
      text: withoutMarks(`${member.comment}\n${member.code.text}`),
    })),
  ]
}

function withoutMarks(text: string): string {
  return text.replaceAll('`', '')
}
