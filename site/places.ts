import path from 'node:path'
import { decisions, httpApi } from './outline.ts'

/** Where a page of the repository stands in the site. */
export function placeOf(source: string): string {
  if (source === 'README.md') return 'index.html'
  if (source === httpApi) return 'http.html'
  if (source === decisions) return 'decisions/index.html'
  if (source.startsWith('holdfast')) return `api/${path.basename(source)}.html`
  if (!source.endsWith('.md')) return `source/${source}.html`
  const inSite = source.replace(/^docs\//, '').replace(/README\.md$/, 'index.md')
  return inSite.replace(/\.md$/, '.html').toLowerCase()
}

/** The way from one file of the site to another, so that the site works under any address and from a disk. */
export function between(from: string, to: string): string {
  return path.posix.relative(path.posix.dirname(from), to) || path.posix.basename(to)
}

/** Where a picture of the repository stands in the site. */
export function pictureOf(source: string): string {
  return `pictures/${path.posix.basename(source)}`
}
