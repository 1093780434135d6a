import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { html } from './html.ts'
import { type Links, renderPage } from './markdown/markdown.ts'
import { decisions } from './outline.ts'
import type { Page } from './page.ts'
import { between, pictureOf, placeOf } from './places.ts'
import type { SourceFiles } from './source-files.ts'

/** Pages in Markdown that the site is made of: all of these, whatever they are called. */
const patterns = ['*.md', 'docs/**/*.md', 'examples/**/README.md']

export interface MarkdownPages {
  readonly pages: readonly Page[]
  /** Pictures of the repository that they show. */
  readonly pictures: ReadonlySet<string>
}

export function readMarkdownPages(sources: SourceFiles): MarkdownPages {
  const files = globSync(patterns, { exclude: ['**/node_modules/**'] }).sort()
  const known = new Set([...files, decisions])
  const pictures = new Set<string>()
  const pages = files.map((file) => {
    const rendered = renderPage(readFileSync(file, 'utf8'), linksFrom(file, known, pictures, sources))
    return { source: file, place: placeOf(file), ...rendered, ...(isDecision(file) && { under: decisions }) }
  })
  return { pages: [...pages, decisionList(pages.filter(({ source }) => isDecision(source)))], pictures }
}

function isDecision(file: string): boolean {
  return file.startsWith(decisions)
}

/** A link to a page leads to that page; one to another file of the repository, to a page that shows it. */
function linksFrom(from: string, known: ReadonlySet<string>, pictures: Set<string>, sources: SourceFiles): Links {
  const place = placeOf(from)
  const inRepository = (href: string) => path.posix.join(path.posix.dirname(from), href)
  return {
    link: (href) => {
      const [target = '', anchor] = href.split('#')
      if (target === '') return href
      const file = inRepository(target)
      if (known.has(file)) return `${between(place, placeOf(file))}${anchor === undefined ? '' : `#${anchor}`}`
      if (sources.has(file)) return between(place, sources.place(file))
      throw new Error(`${from} links to ${href}, which is no page and no file. Mend the link`)
    },
    picture: (source) => {
      const file = inRepository(source)
      if (!sources.has(file)) throw new Error(`${from} shows ${source}, which is not there. Mend its path`)
      pictures.add(file)
      return between(place, pictureOf(file))
    },
  }
}

function decisionList(pages: readonly Page[]): Page {
  const place = placeOf(decisions)
  const body = html`<h1>Decisions</h1>
<p>Why things are as they are, one page each: the problem, the choice, the alternatives. They are frozen; how it is now is said in the other pages.</p>
<ul class="list">
${pages.map((page) => html`<li><a href="${between(place, page.place)}">${page.title}</a></li>\n`)}</ul>\n`
  return { source: decisions, place, title: 'Decisions', body, contents: [], sections: [] }
}
