import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { highlight } from '../../site/code/highlight.ts'
import { html } from '../../site/html.ts'
import { renderPage } from '../../site/markdown/markdown.ts'
import { createSlugs } from '../../site/markdown/slugs.ts'

const links = { link: (href: string) => `to:${href}`, picture: (source: string) => `picture:${source}` }

describe('a page in Markdown', () => {
  it('has its headings by the names that GitHub gives them', () => {
    const slug = createSlugs()
    const names = ['When something is wrong', '`useThread`', '3. Shapes', 'limit_reached', 'Dev', 'Dev', "What's new?"]
    const expected = ['when-something-is-wrong', 'usethread', '3-shapes', 'limit_reached', 'dev', 'dev-1', 'whats-new']
    expect(names.map((name) => slug(name.replaceAll('`', '')))).toEqual(expected)
  })

  it('lists its headings of two levels, and is found by what stands under each', () => {
    const page = renderPage('# Title\nFirst\n## One `two`\n- a [link](x.md)\n### Deeper\n|a|b|\n|-|-|\n|c|d|\n', links)
    expect(page.title).toBe('Title')
    expect(page.contents).toEqual([
      { id: 'one-two', text: 'One two', depth: 2 },
      { id: 'deeper', text: 'Deeper', depth: 3 },
    ])
    expect(page.sections).toEqual([
      { id: '', heading: 'Title', text: 'First' },
      { id: 'one-two', heading: 'One two', text: 'a link' },
      { id: 'deeper', heading: 'Deeper', text: 'a · b\nc · d' },
    ])
  })

  it('has its links and pictures led to where they are in the site', () => {
    const { body } = renderPage('[a](x.md#y) [b](https://example.com) ![c](d.png)\n\n<img src="e.png">', links)
    expect(body.html).toContain('href="to:x.md#y"')
    expect(body.html).toContain('href="https://example.com" rel="noreferrer"')
    expect(body.html).toContain('src="picture:d.png"')
    expect(body.html).toContain('src="picture:e.png"')
  })
})

describe('code', () => {
  it('is coloured without a letter added or lost, on every page', () => {
    for (const file of globSync(['*.md', 'docs/**/*.md'])) {
      for (const [, language = '', code = ''] of readFileSync(file, 'utf8').matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
        expect(textOf(highlight(code, language).html), file).toBe(code)
      }
    }
  })

  it('has its keywords, names and texts told apart', () => {
    const { html: coloured } = highlight("const run = await runtime.run({ type: 'x' }) // why", 'ts')
    expect(coloured).toContain('<span class="keyword">await</span>')
    expect(coloured).toContain('runtime.<span class="call">run</span>(')
    // A field that is called as a keyword is a field.
    expect(coloured).toContain(' type: <span class="string">&#39;x&#39;</span>')
    expect(coloured).toContain('<span class="comment">// why</span>')
  })

  it('shows what was typed at a prompt apart from what was printed', () => {
    const { html: coloured } = highlight('$ holdfast ps -a\nbg_0 running', 'console')
    expect(coloured).toContain('<span class="prompt">$ </span><span class="call">holdfast</span>')
    expect(coloured).toContain('<span class="output">bg_0 running</span>')
  })
})

describe('a template of HTML', () => {
  it('takes what is put into it as text, unless it is HTML', () => {
    const inner = html`<b>${'<i>"'}</b>`
    expect(html`<p>${inner}${['&', false, undefined, 1]}</p>`.html).toBe('<p><b>&lt;i&gt;&quot;</b>&amp;1</p>')
  })
})

function textOf(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
