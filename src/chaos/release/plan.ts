import type { Verdict } from '../check/check-case.ts'
import type { Pace } from '../faults/nemesis.ts'
import {
  cancelLoad,
  cutLoad,
  type LineShape,
  type LoadShape,
  lightLoad,
  mixedLoad,
  shortLines,
} from '../load/load-shape.ts'
import type { RoundGoal } from '../round.ts'

/** Rounds one after the other on nodes of their own. What all of them together must have seen is shared out. */
export interface TrackPlan {
  readonly store: 'sqlite:' | 'postgres:'
  readonly nodes: number
  /** 1000 unless given. Where nothing is done to nodes, nobody has to take over soon. */
  readonly leaseMs?: number
  readonly rounds: number
  readonly total: RoundGoal
  readonly shape: LoadShape
  readonly lines?: LineShape
  readonly pace?: Pace
}

/** What a release has to have seen, and how it is read from what tracks saw. */
export interface Figure {
  readonly what: string
  readonly wanted: number
  readonly had: (verdicts: readonly Verdict[]) => number
}

/** A part of a release that reaches some figures. */
export interface Phase {
  readonly name: string
  readonly tracks: readonly TrackPlan[]
  /** How many tracks go on side by side. */
  readonly atOnce: number
  readonly figures: readonly Figure[]
}

// Where faults are what is counted, a node is left alone only until it has done something, however long that takes.
const quick: Pace = { acknowledgedMax: 24, restMsMax: 4_000 }

function sumOf(of: (verdict: Verdict) => number) {
  return (verdicts: readonly Verdict[]) => verdicts.reduce((sum, verdict) => sum + of(verdict), 0)
}

function faultsOf(...kinds: readonly string[]) {
  return sumOf(({ faults }) => kinds.reduce((sum, kind) => sum + (faults[kind] ?? 0), 0))
}

function tracks(count: number, plan: TrackPlan): TrackPlan[] {
  return Array.from({ length: count }, () => plan)
}

/** Threads that were deleted and prunes, for which each track of a phase with such load has a goal. */
const forgetting: readonly Figure[] = [
  { what: 'deletes', wanted: 50, had: sumOf(({ counts }) => counts.deleted) },
  { what: 'prunes', wanted: 50, had: sumOf(({ counts }) => counts.pruned) },
]

// Where nodes and stores die all the time, what is deleted and pruned comes often enough to be hit by that.
const forgetfulLoad: LoadShape = {
  ...mixedLoad,
  weights: { ...mixedLoad.weights, fleeting: 6, deleteThread: 4, prune: 8 },
}

const sqlite = { store: 'sqlite:', nodes: 1, shape: mixedLoad } as const
const postgres = { store: 'postgres:', nodes: 3, shape: mixedLoad } as const

const unharmed = { shape: lightLoad, leaseMs: 15_000 } as const

const killed: TrackPlan = {
  ...sqlite,
  shape: forgetfulLoad,
  rounds: 7,
  total: { deletes: 17, prunes: 17, faults: { kill: 325, 'kill opening': 10, drain: 7 } },
  pace: quick,
}

const tormented: TrackPlan = {
  ...postgres,
  shape: forgetfulLoad,
  rounds: 5,
  total: {
    deletes: 25,
    prunes: 25,
    faults: {
      kill: 145,
      'kill opening': 5,
      drain: 5,
      'postgres kill': 50,
      'postgres restart': 5,
      'terminate backends': 10,
      cut: 10,
      stall: 5,
      'lose answers': 15,
      'drop notices': 5,
    },
  },
  pace: quick,
}

const frozen: TrackPlan = {
  ...postgres,
  shape: forgetfulLoad,
  rounds: 4,
  total: {
    deletes: 25,
    prunes: 25,
    faults: { freeze: 76, 'freeze in commit': 24, 'lose answers': 8, 'drop notices': 4 },
  },
  pace: quick,
}

/** The phases of a release, as the table of figures in `docs/reliability.md` has them. */
export const phases: readonly Phase[] = [
  {
    name: 'kills',
    tracks: tracks(3, killed),
    atOnce: 3,
    figures: [{ what: 'kill -9 cycles', wanted: 1_000, had: faultsOf('kill', 'kill opening') }, ...forgetting],
  },
  {
    name: 'nodes',
    tracks: tracks(2, tormented),
    atOnce: 2,
    figures: [
      { what: 'node kills', wanted: 300, had: faultsOf('kill', 'kill opening') },
      { what: 'PostgreSQL kills', wanted: 100, had: faultsOf('postgres kill') },
      ...forgetting,
    ],
  },
  {
    name: 'zombies',
    tracks: tracks(2, frozen),
    atOnce: 2,
    figures: [{ what: 'zombie cycles', wanted: 200, had: faultsOf('freeze', 'freeze in commit') }, ...forgetting],
  },
  {
    name: 'cancels',
    tracks: [
      {
        ...postgres,
        shape: cancelLoad,
        rounds: 4,
        total: { cancels: 3_500, faults: { kill: 8, freeze: 4, 'postgres kill': 4, 'lose answers': 8 } },
      },
      ...tracks(2, {
        ...sqlite,
        shape: cancelLoad,
        rounds: 3,
        total: { cancels: 3_250, faults: { kill: 9, drain: 3 } },
      }),
    ],
    atOnce: 2,
    figures: [{ what: 'cancels', wanted: 10_000, had: sumOf(({ counts }) => counts.cancelled) }],
  },
  {
    name: 'cuts',
    tracks: [
      {
        ...postgres,
        shape: cutLoad,
        lines: shortLines,
        rounds: 5,
        total: { cuts: 7_000, faults: { kill: 5, drain: 5, 'postgres kill': 5, 'drop notices': 5 } },
      },
      ...tracks(2, {
        ...sqlite,
        shape: cutLoad,
        lines: shortLines,
        rounds: 4,
        total: { cuts: 6_500, faults: { kill: 8, drain: 4 } },
      }),
    ],
    atOnce: 2,
    figures: [{ what: 'resume cuts', wanted: 20_000, had: sumOf(({ counts }) => counts.cuts) }],
  },
  {
    name: 'hostile',
    tracks: [
      { ...sqlite, ...unharmed, rounds: 1, total: { hostile: 150_000 } },
      { ...postgres, nodes: 2, ...unharmed, rounds: 1, total: { hostile: 50_000 } },
    ],
    atOnce: 1,
    figures: [{ what: 'hostile requests', wanted: 200_000, had: sumOf(({ counts }) => counts.hostile) }],
  },
  {
    name: 'idle',
    tracks: [
      { ...sqlite, ...unharmed, rounds: 1, total: { idle: 10_000 } },
      { ...postgres, nodes: 2, ...unharmed, rounds: 1, total: { idle: 10_000 } },
    ],
    // Each needs as many open files as one process may mostly have.
    atOnce: 1,
    figures: [
      {
        what: 'idle streams at once on each store',
        wanted: 10_000,
        had: (verdicts) => Math.min(...verdicts.map(({ counts }) => counts.idle)),
      },
    ],
  },
]

/** A phase at a part of its size, to try it. */
export function scaled(phase: Phase, scale: number): Phase {
  if (scale === 1) return phase
  return {
    ...phase,
    tracks: phase.tracks.map((track) => ({
      ...track,
      rounds: Math.max(1, Math.round(track.rounds * scale)),
      total: shared(track.total, (count) => Math.ceil(count * scale)),
    })),
    figures: phase.figures.map((figure) => ({ ...figure, wanted: Math.ceil(figure.wanted * scale) })),
  }
}

/** What one round of a track must have seen. */
export function goalOf({ total, rounds }: TrackPlan): RoundGoal {
  return shared(total, (count) => Math.ceil(count / rounds))
}

function shared(goal: RoundGoal, change: (count: number) => number): RoundGoal {
  const { faults = {}, ...counts } = goal
  const each = (record: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(record).map(([name, count]) => [name, change(count)]))
  return { ...each(counts), faults: each(faults) }
}
