import type { Page } from '../page.ts'
import { encodeLine, globalName, type Posting, type SearchIndex } from './search-index.ts'
import { wordsOf } from './words.ts'

// A word in a heading says what the section is about; in the title of the page, what all of its sections are.
const headingWeight = 6
const titleWeight = 2
// Beyond this a word does not tell more of a section by standing in it once more.
const weightMax = 35

/** The index of all pages, made once so that no reader has to. */
export function buildIndex(pages: readonly Page[], groupOf: (page: Page) => string): SearchIndex {
  const found = pages.filter(({ sections }) => sections.length > 0)
  const sections: (readonly [number, string, string, string])[] = []
  const postings = new Map<string, Posting[]>()
  for (const [position, page] of found.entries()) {
    for (const { id, heading, text } of page.sections) {
      const section = sections.push([position, id, heading, text]) - 1
      for (const [word, weight] of weightsOf(page.title, heading, text)) {
        const known = postings.get(word) ?? []
        known.push({ section, weight })
        postings.set(word, known)
      }
    }
  }
  const words = [...postings].sort(([one], [other]) => (one < other ? -1 : 1))
  return {
    pages: found.map((page) => [page.place, page.title, groupOf(page)]),
    sections,
    words: words.map(([word, at]) => encodeLine(word, at)).join('\n'),
  }
}

/** The index as a script. */
export function indexScript(index: SearchIndex): string {
  return `globalThis.${globalName} = ${JSON.stringify(index)}\n`
}

function weightsOf(title: string, heading: string, text: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  const add = (words: readonly string[], weight: number) => {
    for (const word of words) weights.set(word, Math.min(weightMax, (weights.get(word) ?? 0) + weight))
  }
  add(wordsOf(text), 1)
  add(wordsOf(heading), headingWeight)
  add(wordsOf(title), titleWeight)
  return weights
}
