import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { highlight } from './code/highlight.ts'
import { type Html, html, raw } from './html.ts'
import type { Page } from './page.ts'
import { placeOf } from './places.ts'

/** Files of the repository that pages lead to. Each that was asked for becomes a page, so that the site needs no other server. */
export class SourceFiles {
  readonly #asked = new Set<string>()

  /** The place of a file in the site, at one of its lines if that is given. */
  place(file: string, line?: number): string {
    this.#asked.add(file)
    return `${placeOf(file)}${line === undefined ? '' : `#L${line}`}`
  }

  has(file: string): boolean {
    return existsSync(file) && statSync(file).isFile()
  }

  pages(): readonly Page[] {
    return [...this.#asked].sort().map(pageOf)
  }
}

function pageOf(file: string): Page {
  const language = path.extname(file).slice(1)
  const lines = linesOf(highlight(readFileSync(file, 'utf8').trimEnd(), language))
  const numbered = lines.map((line, n) => {
    const number = n + 1
    return html`<span class="line" id="L${number}"><a href="#L${number}" data-line="${number}" aria-label="Line ${number}"></a>${line}\n</span>`
  })
  const body = html`<h1 class="file">${file}</h1>
<pre class="code source" tabindex="0" data-language="${language}"><code>${numbered}</code></pre>\n`
  return { source: file, place: placeOf(file), title: file, body, contents: [], sections: [] }
}

/** Cuts coloured code at its ends of lines; what is coloured over several of them is so in each. */
function linesOf({ html: coloured }: Html): readonly Html[] {
  let open = ''
  return coloured.split('\n').map((line) => {
    const begun = open
    for (const [tag] of line.matchAll(/<span[^>]*>|<\/span>/g)) open = tag === '</span>' ? '' : tag
    return raw(`${begun}${line}${open && '</span>'}`)
  })
}
