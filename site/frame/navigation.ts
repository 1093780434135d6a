import { type Html, html, raw } from '../html.ts'
import type { Group } from '../outline.ts'
import type { Page } from '../page.ts'
import { between } from '../places.ts'

/** The pages in their groups, and what comes before and after which. */
export interface Navigation {
  readonly groups: readonly { readonly title: string; readonly pages: readonly Page[] }[]
  /** All pages in the order in which they are read. */
  readonly order: readonly Page[]
}

export function navigationOf(outline: readonly Group[], pages: readonly Page[]): Navigation {
  const bySource = new Map(pages.map((page) => [page.source, page]))
  const listed = (source: string): readonly Page[] => {
    const page = bySource.get(source)
    return page ? [page] : []
  }
  const groups = outline.map(({ title, pages: sources }) => ({ title, pages: sources.flatMap(listed) }))
  const below = (page: Page) => [page, ...pages.filter(({ under }) => under === page.source)]
  return { groups, order: groups.flatMap((group) => group.pages.flatMap(below)) }
}

export function groupTitle({ groups }: Navigation, page: Page): string {
  const shown = page.under ?? page.source
  return groups.find(({ pages }) => pages.some(({ source }) => source === shown))?.title ?? ''
}

/** The list of all pages, as it stands beside each of them. */
export function sidebar({ groups }: Navigation, page: Page): Html {
  const shown = page.under ?? page.source
  return html`${groups.map(
    ({ title, pages }) => html`<h2>${title}</h2>
<ul>
${pages.map(
  ({ source, place, title: name }) =>
    html`<li><a href="${between(page.place, place)}"${source === shown && raw(' aria-current="page"')}>${
      source === 'README.md' ? 'Overview' : name
    }</a></li>\n`,
)}</ul>\n`,
  )}`
}

/** The links to the pages before and after. */
export function neighbours({ order }: Navigation, page: Page): Html | undefined {
  const at = order.indexOf(page)
  if (at < 0) return undefined
  const link = (to: Page | undefined, rel: 'prev' | 'next', label: string) =>
    to &&
    html`<a class="${rel}" rel="${rel}" href="${between(page.place, to.place)}"><span>${label}</span> ${to.title}</a>`
  return html`<nav class="neighbours" aria-label="Neighbouring pages">${link(order[at - 1], 'prev', 'Previous')}${link(order[at + 1], 'next', 'Next')}</nav>`
}
