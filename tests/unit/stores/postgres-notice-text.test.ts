import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventRow } from '../../../src/core/event-row.ts'
import { principal, type ThreadKey, threadId, threadKey } from '../../../src/core/id.ts'
import { isFrom, joinNews, type News, newsOf, noticesOf, readNotice } from '../../../src/stores/postgres/notice-text.ts'

const from = '5f3c'

function keyOf(n: number): ThreadKey {
  return threadKey(principal('owner'), threadId(`thread-${n}`))
}

function rowOf(first: number, text: string): EventRow {
  return { first, last: first, at: 7, body: `text.delta\tbg_1\t1\t\t${JSON.stringify({ text })}` }
}

function heardIn(texts: readonly string[]): { key: ThreadKey; isChanged: boolean; row?: EventRow }[] {
  const heard: { key: ThreadKey; isChanged: boolean; row?: EventRow }[] = []
  for (const text of texts) {
    readNotice(text, (key, isChanged, row) => heard.push({ key, isChanged, ...(row && { row }) }))
  }
  return heard
}

const newsArbitrary: fc.Arbitrary<News> = fc.oneof(
  fc.boolean().map((isChanged) => ({ isChanged })),
  fc
    .array(fc.string({ unit: 'grapheme', maxLength: 900 }), { minLength: 1, maxLength: 4 })
    .map((texts) => ({ isChanged: false, rows: texts.map((text, n) => rowOf(n + 1, text)) })),
)

describe('what a notice says', () => {
  it('is told of every thread once or row by row, in texts that the server takes', () => {
    fc.assert(
      fc.property(fc.array(newsArbitrary, { maxLength: 200 }), (all) => {
        const news = new Map(all.map((each, n) => [keyOf(n), each]))
        const texts = noticesOf(from, news)
        expect(texts.every((text) => Buffer.byteLength(text) < 8_000 && isFrom(text, from))).toBe(true)
        const heard = Map.groupBy(heardIn(texts), ({ key }) => key)
        expect([...heard.keys()].sort()).toEqual([...news.keys()].sort())
        for (const [key, { isChanged, rows }] of news) {
          const told = heard.get(key) ?? []
          const toldRows = told.flatMap(({ row }) => row ?? [])
          if (toldRows.length > 0) expect(toldRows).toEqual(rows)
          else expect(told).toEqual([{ key, isChanged }])
        }
      }),
    )
  })

  it('has the rows of a thread that grew by little, and only the key of one that grew by much', () => {
    const [little, much] = [{ rows: [rowOf(1, 'a'), rowOf(2, 'ü')] }, { rows: [rowOf(1, 'x'.repeat(4_000))] }]
    const news = new Map<ThreadKey, News>([
      [keyOf(1), { isChanged: false, ...little }],
      [keyOf(2), { isChanged: false, ...much }],
    ])
    expect(heardIn(noticesOf(from, news))).toEqual([
      { key: keyOf(2), isChanged: false },
      ...little.rows.map((row) => ({ key: keyOf(1), isChanged: false, row })),
    ])
  })

  it('has the rows of some threads and the keys of the rest where very many have grown', () => {
    const grown: News = { isChanged: false, rows: [rowOf(1, 'x'.repeat(1_000))] }
    const heard = heardIn(noticesOf(from, new Map(Array.from({ length: 1_000 }, (_, n) => [keyOf(n), grown]))))
    expect(heard).toHaveLength(1_000)
    expect(heard.filter(({ row }) => row).length).toBeGreaterThan(30)
    expect(heard.filter(({ row }) => row).length).toBeLessThan(100)
  })

  it('joins what came after, as long as all of it is known', () => {
    const [first, second] = [rowOf(1, 'a'), rowOf(2, 'b')]
    const known: News = { isChanged: false, rows: [first] }
    expect(joinNews(undefined, known)).toEqual(known)
    expect(joinNews(known, { isChanged: false, rows: [second] }).rows).toEqual([first, second])
    expect(joinNews(known, { isChanged: false })).toEqual({ isChanged: false })
    expect(joinNews({ isChanged: false }, known)).toEqual({ isChanged: false })
    expect(joinNews(known, { isChanged: true })).toEqual({ isChanged: true })
  })

  it('keeps no more of a thread than is told of it, however much comes before it can be sent', () => {
    let news: News | undefined
    for (let n = 1; n <= 100; n++) news = joinNews(news, { isChanged: false, rows: [rowOf(n, 'x'.repeat(100))] })
    expect(news).toEqual({ isChanged: false })
    const long = { operation: 'emit', thread: keyOf(1), events: [] } as const
    expect(newsOf(long, { committed: true, first: 1, at: 1, taken: [] }, 'x'.repeat(60_000))).toEqual({
      isChanged: false,
    })
  })

  it('is nothing where it cannot be made out', () => {
    for (const text of ['', from, `${from} =`, `${from} =\u0001`, `${from} =\u0001owner/t 1`, `${from} +`]) {
      expect(heardIn([text])).toEqual([])
    }
  })
})
