// Who is compared, what each keeps, and what each does not have.

import type { Backing } from './backing.ts'
import type { MakePort } from './client/port.ts'
import * as ports from './client/ports.ts'
import type { RowName } from './table.ts'

export interface Peer {
  readonly name: string
  readonly title: string
  /** What survives in it, and of what. */
  readonly keeps: string
  /** The package that has to be installed in this folder. */
  readonly needs?: string
  /** The program of its server, in `servers/`. */
  readonly server: string
  readonly port: MakePort
  /** The arguments of that program: a folder, or the URL of a database made for this visit. */
  readonly args: (backing: Backing) => Promise<readonly string[]>
  readonly isLimit?: boolean
  /** Visited after the others, so that a short run has time for those. */
  readonly isSlow?: boolean
  readonly lacks?: Readonly<Partial<Record<RowName, string>>>
}

const noRuns = 'it has streams and no runs'
const noReplay = {
  replay: 'what was sent is not kept as events',
  resume: 'what was sent is not kept as events',
}
const limits = { cancel: 'a bare server has no runs', parked: 'a bare server has no runs' }

export const peers = [
  {
    name: 'holdfast-sqlite',
    title: 'Holdfast, SQLite',
    keeps: 'all, fsync',
    server: 'holdfast',
    port: ports.holdfast,
    args: async (backing) => [`sqlite:${backing.folder}/holdfast.db`],
  },
  {
    name: 'holdfast-postgres',
    title: 'Holdfast, PostgreSQL',
    keeps: 'all, fsync',
    server: 'holdfast',
    port: ports.holdfast,
    args: async (backing) => [await backing.storeUrl()],
  },
  {
    name: 'durable-streams-file',
    title: 'durable-streams, files',
    keeps: 'events, fsync',
    needs: '@durable-streams/server',
    server: 'durable-streams',
    port: ports.durableStreams,
    args: async (backing) => [backing.folder],
    lacks: { cancel: noRuns, parked: noRuns },
  },
  {
    name: 'durable-streams-memory',
    title: 'durable-streams, memory',
    keeps: 'nothing',
    needs: '@durable-streams/server',
    server: 'durable-streams',
    port: ports.durableStreams,
    args: async () => [],
    lacks: { cancel: noRuns, parked: noRuns },
  },
  {
    name: 'langgraph',
    title: 'LangGraph dev server',
    keeps: 'state, file every 3 s',
    needs: '@langchain/langgraph-api',
    server: 'langgraph',
    port: ports.langgraph,
    isSlow: true,
    args: async (backing) => [backing.folder],
  },
  {
    name: 'resumable-stream',
    title: 'resumable-stream',
    keeps: 'nothing',
    needs: 'resumable-stream',
    server: 'resumable-stream',
    port: ports.resumableStream,
    args: async (backing) => [await backing.redisUrl()],
    lacks: { cancel: noRuns },
  },
  {
    name: 'bullmq',
    title: 'BullMQ',
    keeps: 'jobs, AOF every s',
    needs: 'bullmq',
    server: 'bullmq',
    port: ports.bullmq,
    args: async (backing) => [await backing.redisUrl()],
    lacks: {
      replay: 'all jobs share one stream of events, cut at about 10,000',
      resume: 'all jobs share one stream of events, cut at about 10,000',
    },
  },
  {
    name: 'dbos',
    title: 'DBOS',
    keeps: 'all, fsync',
    needs: '@dbos-inc/dbos-sdk',
    server: 'dbos',
    port: ports.dbos,
    isSlow: true,
    args: async (backing) => [await backing.databaseUrl()],
  },
  {
    name: 'a2a',
    title: 'A2A SDK',
    keeps: 'nothing',
    needs: '@a2a-js/sdk',
    server: 'a2a',
    port: ports.a2a,
    args: async () => [],
    lacks: noReplay,
  },
  {
    name: 'naive',
    title: 'bare, naive',
    keeps: 'a row per run',
    server: 'bare',
    port: ports.bare('naive'),
    args: async () => [],
    isLimit: true,
    lacks: limits,
  },
  {
    name: 'joined',
    title: 'bare, joined',
    keeps: 'a row per run',
    server: 'bare',
    port: ports.bare('joined'),
    args: async () => [],
    isLimit: true,
    lacks: limits,
  },
] as const satisfies readonly Peer[]

export type PeerName = (typeof peers)[number]['name']
