import { describe, expect, it } from 'vitest'
import type { Counts, Verdict } from '../../../src/chaos/index.ts'
import { goalOf, phases, scaled, type TrackPlan } from '../../../src/chaos/release/plan.ts'
import { phaseLine, trackText } from '../../../src/chaos/release/release-text.ts'

/** What a track leaves that saw what its rounds were to see, and no more. */
function seenBy(track: TrackPlan): Verdict {
  const { faults = {}, cancels = 0, cuts = 0, deletes = 0, prunes = 0, hostile = 0, idle = 0 } = goalOf(track)
  const { rounds } = track
  const counts = {
    acknowledged: rounds,
    cancelled: cancels * rounds,
    cuts: cuts * rounds,
    deleted: deletes * rounds,
    pruned: prunes * rounds,
    hostile: hostile * rounds,
    idle: idle * rounds,
  } as Partial<Counts> as Counts
  const injected = Object.fromEntries(Object.entries(faults).map(([kind, count]) => [kind, count * rounds]))
  return { rounds, counts, faults: injected, violations: [], missing: [], holds: true }
}

const sizes = [1, 0.05, 0.01]

describe('the plan of a release', () => {
  it.each(phases.flatMap((phase) => sizes.map((size) => [phase.name, size, scaled(phase, size)] as const)))(
    'reaches the figures of %s at %d of its size when every round sees what it is to see',
    (_name, _size, phase) => {
      const verdicts = phase.tracks.map(seenBy)
      for (const { what, wanted, had } of phase.figures) expect(had(verdicts), what).toBeGreaterThanOrEqual(wanted)
    },
  )

  it('has the figures that are promised for a release', () => {
    const forgetting = ['50 deletes', '50 prunes']
    const wanted = phases.flatMap(({ figures }) => figures.map((figure) => `${figure.wanted} ${figure.what}`))
    expect(wanted).toEqual([
      '1000 kill -9 cycles',
      ...forgetting,
      '300 node kills',
      '100 PostgreSQL kills',
      ...forgetting,
      '200 zombie cycles',
      ...forgetting,
      '10000 cancels',
      '20000 resume cuts',
      '200000 hostile requests',
      '10000 idle streams at once on each store',
    ])
  })

  it('misses a figure when a track saw too little, and says so in its line', () => {
    const [phase] = phases
    if (!phase) throw new Error('There is a phase')
    const verdicts = phase.tracks.slice(1).map(seenBy)
    const tracks = verdicts.map((verdict) => ({ store: 'sqlite:', history: '/h', verdict }))
    const report = { phase, seed: 42, tracks, loadMs: 61_000, checkMs: 2_000, holds: false }
    expect(phase.figures[0]?.had(verdicts)).toBeLessThan(1_000)
    expect(phaseLine(report, 'abc')).toMatch(
      /^\| kills \| \d+ kill -9 cycles \(1,000\), 42 deletes \(50\), 42 prunes \(50\) \| `sqlite:` \| 14 \| 0 \| 63 s \(2 s\) \| 42 \| abc \| \*\*missed\*\*\n$/,
    )
    expect(trackText({ ...report, tracks: [{ store: 'sqlite:', history: '/h', error: new Error('gone') }] })).toContain(
      'sqlite: /h: Error: gone',
    )
  })
})
