// What the build writes and the page reads. It is loaded when somebody begins to search, as a script, because a page that was
// opened from a disk may read nothing else.

export interface SearchIndex {
  readonly pages: readonly (readonly [place: string, title: string, group: string])[]
  readonly sections: readonly (readonly [page: number, id: string, heading: string, text: string])[]
  /**
   * A line per word, in order: the word, and the sections that it is in, as the distance from the one before, with its weight in
   * that section behind a star unless it is 1. All numbers are to the base of 36.
   */
  readonly words: string
}

/** The global that the script of the index sets. */
export const globalName = 'holdfastSearchIndex'

export interface Posting {
  readonly section: number
  readonly weight: number
}

export function encodeLine(word: string, postings: readonly Posting[]): string {
  let before = 0
  const encoded = postings.map(({ section, weight }) => {
    const distance = section - before
    before = section
    return `${distance.toString(36)}${weight === 1 ? '' : `*${weight.toString(36)}`}`
  })
  return [word, ...encoded].join(' ')
}

export function decodeLine(line: string): { readonly word: string; readonly postings: readonly Posting[] } {
  const [word = '', ...encoded] = line.split(' ')
  let section = 0
  const postings = encoded.map((text) => {
    const [distance = '', weight = '1'] = text.split('*')
    section += Number.parseInt(distance, 36)
    return { section, weight: Number.parseInt(weight, 36) }
  })
  return { word, postings }
}
