import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { html } from '../../site/html.ts'
import type { Page, Section } from '../../site/page.ts'
import { buildIndex } from '../../site/search/build-index.ts'
import { excerptOf, markedPieces } from '../../site/search/excerpt.ts'
import { createSearch } from '../../site/search/search.ts'
import { decodeLine, encodeLine } from '../../site/search/search-index.ts'
import { wordsOf } from '../../site/search/words.ts'

function pageOf(title: string, ...sections: readonly Section[]): Page {
  return { source: title, place: `${title}.html`, title, body: html``, contents: [], sections }
}

const pages = [
  pageOf(
    'Cancellation',
    { id: '', heading: 'Cancellation', text: 'A cancel takes effect at its commit.' },
    { id: 'trees', heading: 'Trees', text: 'A cancel of a tree reaches every child, and the lease is let go.' },
  ),
  pageOf('Leases', { id: '', heading: 'Leases', text: 'A node has the right to write until its lease ends.' }),
  pageOf('holdfast', { id: 'createRuntime', heading: 'createRuntime', text: 'A runtime on a store.' }),
]

describe('the search', () => {
  const search = createSearch(buildIndex(pages, () => 'Group'))
  const headings = (query: string) => search(query).map(({ heading }) => heading)

  it('finds a section by a word of its text, with its page and its anchor', () => {
    const [found] = search('child')
    expect(found).toMatchObject({ place: 'Cancellation.html', id: 'trees', title: 'Cancellation', group: 'Group' })
  })

  it('puts the section that is called what was asked for first', () => {
    expect(headings('leases')).toEqual(['Leases'])
    expect(headings('lease')[0]).toBe('Leases')
    expect(headings('trees')[0]).toBe('Trees')
  })

  it('finds by the beginning of a word, by parts of a name, and by the whole of it in any letters', () => {
    expect(headings('cance')).toContain('Trees')
    expect(headings('runtime')).toEqual(['createRuntime'])
    expect(headings('CREATERUNTIME')).toEqual(['createRuntime'])
  })

  it('finds what has all of the words before what has some', () => {
    expect(headings('cancel child')).toEqual(['Trees'])
    expect(headings('child store')).toEqual(expect.arrayContaining(['Trees', 'createRuntime']))
  })

  it('forgives a slip, but only where nothing is spelled so', () => {
    expect(headings('comit')).toEqual(['Cancellation'])
    expect(headings('zzzzzz')).toEqual([])
    expect(headings('')).toEqual([])
  })

  it('counts a name whole and each of its parts', () => {
    expect(wordsOf('createRuntime limit_reached HTTPServer bg_0')).toEqual(
      expect.arrayContaining(['createruntime', 'create', 'runtime', 'limit_reached', 'limit', 'http', 'bg_0']),
    )
  })

  it('reads of an index what was written into it', () => {
    const postings = fc
      .uniqueArray(fc.nat(5000), { minLength: 1 })
      .map((sections) => sections.sort((one, other) => one - other))
      .chain((sections) =>
        fc.tuple(...sections.map((section) => fc.integer({ min: 1, max: 35 }).map((weight) => ({ section, weight })))),
      )
    fc.assert(
      fc.property(postings, (given) => {
        expect(decodeLine(encodeLine('word', given))).toEqual({ word: 'word', postings: given })
      }),
    )
  })
})

describe('an excerpt', () => {
  it('shows the words where they stand, marked, and says where it is cut', () => {
    const text = `${'before '.repeat(30)}the lease of a node ${'after '.repeat(60)}`
    const pieces = excerptOf(text, ['lease'])
    const shown = pieces.map((piece) => piece.text).join('')
    expect(pieces.filter(({ isMatch }) => isMatch).map((piece) => piece.text)).toEqual(['lease'])
    expect(shown.startsWith('… ')).toBe(true)
    expect(shown.endsWith(' …')).toBe(true)
    expect(shown.length).toBeLessThan(200)
  })

  it('marks the longest of two words that begin alike, and a part of a name', () => {
    expect(markedPieces('cancelTree', ['cancel', 'canceltree'])).toEqual([{ text: 'cancelTree', isMatch: true }])
    expect(markedPieces('the Runtime', ['runtime'])).toEqual([
      { text: 'the ', isMatch: false },
      { text: 'Runtime', isMatch: true },
    ])
  })
})
