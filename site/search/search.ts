import { decodeLine, type Posting, type SearchIndex } from './search-index.ts'
import { queryWords } from './words.ts'

export interface Found {
  readonly place: string
  readonly title: string
  readonly group: string
  readonly id: string
  readonly heading: string
  readonly text: string
  /** The words of the index that were found, to be marked. */
  readonly words: readonly string[]
}

export type Search = (query: string, countMax?: number) => readonly Found[]

interface Hit {
  score: number
  readonly words: string[]
}

/** Makes the words of an index ready to be looked for. */
export function createSearch(index: SearchIndex): Search {
  const lines = index.words.split('\n').map(decodeLine)
  const names = lines.map(({ word }) => word)
  const sectionCount = index.sections.length

  const hitsOf = (asked: string): ReadonlyMap<number, Hit> => {
    const hits = new Map<number, Hit>()
    for (const { at, closeness } of matches(names, asked)) {
      const { word, postings } = lines[at] ?? { word: '', postings: [] }
      const rarity = Math.log(1 + sectionCount / (postings.length + 1))
      for (const posting of postings) addHit(hits, posting, word, closeness * rarity)
    }
    return hits
  }

  return (query, countMax = 20) => {
    const asked = queryWords(query)
    const hits = together(asked.map(hitsOf))
    return [...hits]
      .map(([section, hit]) => ({ section, hit, score: hit.score * aptness(index, section, query) }))
      .toSorted((one, other) => other.score - one.score || one.section - other.section)
      .slice(0, countMax)
      .map(({ section, hit }) => foundOf(index, section, hit))
  }
}

function addHit(hits: Map<number, Hit>, { section, weight }: Posting, word: string, worth: number): void {
  const hit = hits.get(section) ?? { score: 0, words: [] }
  // A second word that begins alike adds nothing: the better one counts.
  hit.score = Math.max(hit.score, (worth * weight) / (weight + 2))
  hit.words.push(word)
  hits.set(section, hit)
}

/** The sections that have all of the words; if there is none, those that have most. */
function together(each: readonly ReadonlyMap<number, Hit>[]): ReadonlyMap<number, Hit> {
  const counts = new Map<number, number>()
  const all = new Map<number, Hit>()
  for (const hits of each) {
    for (const [section, { score, words }] of hits) {
      counts.set(section, (counts.get(section) ?? 0) + 1)
      const hit = all.get(section) ?? { score: 0, words: [] }
      hit.score += score
      hit.words.push(...words)
      all.set(section, hit)
    }
  }
  const most = Math.max(0, ...counts.values())
  return new Map([...all].filter(([section]) => counts.get(section) === most))
}

/** A section that is called what was asked for is what was meant. */
function aptness({ sections }: SearchIndex, section: number, query: string): number {
  const heading = sections[section]?.[2].toLowerCase() ?? ''
  const asked = query.trim().toLowerCase()
  if (heading === asked) return 3
  const name = asked.replaceAll(' ', '')
  if (heading.startsWith(asked) || heading === name || heading.endsWith(`.${name}`)) return 1.6
  // Fields of the reference are many and short, and would stand before the pages that explain them.
  return /^\w+\.\w+$/.test(heading) ? 0.75 : 1
}

function foundOf({ pages, sections }: SearchIndex, section: number, { words }: Hit): Found {
  const [page, id, heading, text] = sections[section] ?? [0, '', '', '']
  const [place, title, group] = pages[page] ?? ['', '', '']
  return { place, title, group, id, heading, text, words: [...new Set(words)] }
}

interface Match {
  readonly at: number
  readonly closeness: number
}

/** Words that are or begin with what was typed; only where there is none, those that are a slip of the finger away. */
function matches(names: readonly string[], asked: string): readonly Match[] {
  const found: Match[] = []
  for (let at = lowerBound(names, asked); names[at]?.startsWith(asked); at += 1) {
    const length = names[at]?.length ?? 0
    found.push({ at, closeness: length === asked.length ? 1 : 0.7 * (asked.length / length) + 0.1 })
  }
  if (found.length > 0 || asked.length < 4) return found
  const slips = asked.length < 8 ? 1 : 2
  return names.flatMap((name, at) => (isNear(name, asked, slips) ? [{ at, closeness: 0.4 }] : []))
}

function lowerBound(names: readonly string[], asked: string): number {
  let [from, to] = [0, names.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((names[middle] ?? '') < asked) from = middle + 1
    else to = middle
  }
  return from
}

/** Whether so many letters added, left out or changed make one word of the other. */
function isNear(one: string, other: string, slips: number): boolean {
  if (Math.abs(one.length - other.length) > slips) return false
  let row = Array.from({ length: other.length + 1 }, (_, n) => n)
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= other.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    if (Math.min(...next) > slips) return false
    row = next
  }
  return (row[other.length] ?? 0) <= slips
}
