import { Marked, type Token, type Tokens } from 'marked'
import { codeBlock } from '../code/code-block.ts'
import { escapeText, type Html, html, raw } from '../html.ts'
import type { Heading, Section } from '../page.ts'
import { plainText } from './plain-text.ts'
import { createSlugs } from './slugs.ts'

/** Where the links of a text lead in the site. */
export interface Links {
  link(href: string): string
  picture(source: string): string
}

export interface Rendered {
  readonly title: string
  readonly body: Html
  readonly contents: readonly Heading[]
  readonly sections: readonly Section[]
}

/** A whole page. Its first heading is its title. */
export function renderPage(text: string, links: Links): Rendered {
  const tokens = new Marked().lexer(text)
  const { ids, title, contents, sections } = outlineOf(tokens)
  return { title, contents, sections, body: raw(reader(links, ids).parser(tokens)) }
}

/** A sentence or two, such as a comment in the sources. */
export function renderText(text: string, links: Links): Html {
  return raw(reader(links, new Map()).parse(text, { async: false }))
}

/** A description that stands within a line. */
export function renderLine(text: string, links: Links): Html {
  return raw(reader(links, new Map()).parseInline(text, { async: false }))
}

interface Outline {
  readonly ids: ReadonlyMap<Token, string>
  readonly title: string
  readonly contents: readonly Heading[]
  readonly sections: readonly Section[]
}

function outlineOf(tokens: readonly Token[]): Outline {
  const slug = createSlugs()
  const ids = new Map<Token, string>()
  const contents: Heading[] = []
  const parts: { id: string; heading: string; tokens: Token[] }[] = []
  for (const token of tokens) {
    if (token.type !== 'heading') {
      parts.at(-1)?.tokens.push(token)
      continue
    }
    const { depth, tokens: inner } = token as Tokens.Heading
    const text = plainText(inner)
    const id = slug(text)
    ids.set(token, id)
    if (depth > 1 && depth < 4) contents.push({ id, text, depth })
    parts.push({ id: depth === 1 ? '' : id, heading: text, tokens: [] })
  }
  const sections = parts.map(({ id, heading, tokens: inner }) => ({ id, heading, text: plainText(inner) }))
  return { ids, title: parts[0]?.heading ?? '', contents, sections }
}

function reader({ link, picture }: Links, ids: ReadonlyMap<Token, string>): Marked {
  return new Marked({
    renderer: {
      heading(token) {
        const id = ids.get(token)
        return headingOf(token.depth, id, raw(this.parser.parseInline(token.tokens))).html
      },
      // A path may break after each of its folders, and nowhere else.
      codespan: ({ text }) => `<code>${escapeText(text).replaceAll(/\/(?=\w)/g, '/<wbr>')}</code>`,
      code: ({ text, lang = '' }) => codeBlock(text, lang).html,
      link({ href, tokens }) {
        const isOutside = /^https?:/.test(href)
        const to = isOutside ? href : link(href)
        return html`<a href="${to}"${isOutside && raw(' rel="noreferrer"')}>${raw(this.parser.parseInline(tokens))}</a>`
          .html
      },
      image: ({ href, text }) => html`<img src="${picture(href)}" alt="${text}" loading="lazy">`.html,
      html: ({ text }) =>
        text.replaceAll(/(src|srcset)="([^"]+)"/g, (_all, name: string, source: string) => {
          return `${name}="${escapeText(picture(source))}"`
        }),
      table(token) {
        const row = (cells: readonly Tokens.TableCell[], name: string) =>
          `<tr>${cells.map(({ tokens }) => `<${name}>${this.parser.parseInline(tokens)}</${name}>`).join('')}</tr>`
        const rows = token.rows.map((cells) => row(cells, 'td')).join('\n')
        return scrolled(raw(`<table><thead>${row(token.header, 'th')}</thead><tbody>\n${rows}\n</tbody></table>`)).html
      },
    },
  })
}

/** A heading with a link to itself. */
export function headingOf(depth: number, id: string | undefined, content: Html): Html {
  const name = raw(`h${depth}`)
  if (id === undefined || depth === 1) return html`<${name}>${content}</${name}>\n`
  return html`<${name} id="${id}">${content}<a class="anchor" href="#${id}" aria-label="Link to this heading">#</a></${name}>\n`
}

/** What is wider than the page scrolls by itself; by keys as well, so it can be focused. */
function scrolled(table: Html): Html {
  return html`<div class="scrolled" tabindex="0" role="group" aria-label="Table">${table}</div>\n`
}
