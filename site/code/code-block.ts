import { type Html, html } from '../html.ts'
import { type CodeLink, highlight } from './highlight.ts'

/** A block of code. It scrolls by itself, by keys as well, and the page's script adds what copies it. */
export function codeBlock(code: string, language: string, links: readonly CodeLink[] = []): Html {
  return html`<pre class="code" tabindex="0" data-language="${language}"><code>${highlight(code, language, links)}</code></pre>\n`
}

/** The same without a box, for what stands in a list. */
export function codeLine(code: string, links: readonly CodeLink[] = []): Html {
  return html`<code class="signature">${highlight(code, 'ts', links)}</code>`
}
