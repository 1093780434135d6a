import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { frame as bytesOf } from '../../src/chaos/hostile/frame.ts'
import { clientFrame } from '../../src/protocol/schemas/client-frame.ts'
import type { Refused } from '../server/harness/refused.ts'
import { type Frame, Socket } from '../server/harness/socket.ts'
import { type FrameWay, frameTable } from './frame-table.ts'
import { badCredentials, type Credential, goodCredentials, upgradeCredentials } from './harness/credentials.ts'
import { openSite, type Site, type SiteKind, tokens, type Who } from './harness/site.ts'
import { upgrade } from './harness/upgrade.ts'
import { control, marker, type Names, populate, shared, type World } from './harness/world.ts'

const types = Object.keys(frameTable)

/** Every type that the schema of frames takes. */
const known = clientFrame.options.map((option) => option.shape.type.value)

const missing: Names = {
  thread: shared,
  task: 'bg_999999',
  question: 'q_999999',
  tasksCursor: '',
  threadsCursor: '',
}

function waysOf(type: string, names: Names): readonly FrameWay[] {
  return frameTable[type]?.(names) ?? []
}

/** The answer to a frame, a refusal included, without the ids that differ by themselves. */
async function answerTo(socket: Socket, frame: FrameWay['frame']): Promise<Readonly<Record<string, unknown>>> {
  const given = await socket.ask(frame).catch(({ problem }: Refused) => ({ type: 'error', problem }))
  const { id: _id, problem, ...rest } = given as Frame
  return { ...rest, ...(problem && { problem: { ...problem, requestId: 'the-same' } }) }
}

const comparable = (answer: unknown): string =>
  JSON.stringify(answer)
    .replaceAll(new RegExp(`\\b(${shared}|${control})\\b`, 'g'), 'THREAD')
    .replaceAll(/\bbg_\d+/g, 'TASK')
    .replaceAll(/\b\d{13}\b/g, 'AT')

it('there is a row for every type of frame, and no other', () => {
  expect(known.toSorted()).toEqual(types.toSorted())
})

function suite(kind: SiteKind): void {
  let site: Site
  let world: World
  let before = ''
  let path = ''
  let port = 0
  const open = (who: Who) => {
    const authorization = () => ({ authorization: `Bearer ${tokens[who]}` })
    return Socket.open({ url: `http://127.0.0.1:${port}${site.basePath}`, authorization })
  }
  beforeAll(async () => {
    site = await openSite(kind)
    world = await populate(site.runtime)
    before = await world.all()
    path = `${site.basePath}/v1/ws`
    port = site.port ?? 0
  })
  afterAll(async () => {
    world.leave()
    await site.close()
  })

  const upgraded = ({ headers, query }: Credential) =>
    upgrade({ port, headers, path: query === undefined ? path : `${path}?${query}` })

  it('an upgrade is refused without a credential that is right, as every route is', async () => {
    const bad = [...badCredentials(site.origin), ...upgradeCredentials(site.origin)].filter(
      ({ comesTo }) => comesTo !== 'carol',
    )
    for (const credential of bad) {
      const { statuses, received } = await upgraded(credential)
      const isForeign = credential.comesTo === 'forbidden_origin'
      expect([credential.what, ...statuses]).toEqual([credential.what, isForeign ? 403 : 401])
      expect(received).toContain(`"code":"${credential.comesTo}"`)
    }
  })

  it('an upgrade is taken with every credential that is right', async () => {
    const good = [...goodCredentials(site.origin), ...upgradeCredentials(site.origin)].filter(
      ({ comesTo }) => comesTo === 'carol',
    )
    expect(good).toHaveLength(9)
    for (const credential of good) {
      const { statuses, received } = await upgraded(credential)
      expect([credential.what, ...statuses]).toEqual([credential.what, 101])
      // The token that was offered as a subprotocol is not repeated.
      expect(received).not.toMatch(/bearer\./i)
    }
  })

  it.each(types)('%s behind a refused upgrade is not done', async (type) => {
    const names = { ...missing, thread: 'behind' }
    for (const { frame } of waysOf(type, names)) {
      const behind = bytesOf(Buffer.from(JSON.stringify({ ...frame, id: 'behind' })))
      for (const headers of [{}, { authorization: 'Bearer wrong' }, { origin: 'null', ...bearerOfCarol }]) {
        const { statuses, received } = await upgrade({ port, path, headers, behind })
        expect(statuses).toHaveLength(1)
        expect([401, 403]).toContain(statuses[0])
        expect(received).not.toContain('"behind"')
      }
    }
    expect((await site.runtime.as('carol').thread('behind')).head).toBe(0)
    expect((await site.runtime.thread('behind')).head).toBe(0)
  })

  it.each(types)('%s shows a stranger nothing, and says the same as where there is nothing', async (type) => {
    const socket = await open('bob')
    for (const names of world.alices) {
      for (const [place, { frame, sight, answer }] of waysOf(type, names).entries()) {
        const given = await answerTo(socket, frame)
        if (answer !== undefined) expect(given['type']).toBe(answer)
        if (sight === 'missing') {
          expect(given).toMatchObject({ type: 'error', problem: { status: 404, code: 'not_found' } })
          const other = waysOf(type, missing)[place]?.frame ?? frame
          expect(JSON.stringify(given)).toBe(JSON.stringify(await answerTo(socket, other)))
        }
        if (sight !== 'own' || type === 'run') continue
        const alone = waysOf(type, { ...names, thread: control })[place]?.frame ?? frame
        expect(comparable(given)).toBe(comparable(await answerTo(socket, alone)))
      }
    }
    // Behind everything that came of the frames before.
    await socket.ask({ type: 'ping' })
    const received = JSON.stringify(socket.frames)
    expect(received).not.toContain(marker)
    for (const id of world.ids) expect(received).not.toContain(`"${id}"`)
    socket.drop()
  })

  it('a watch of bob tells nothing of what happens to alice', async () => {
    const socket = await open('bob')
    await socket.ask({ type: 'watch' })
    const { runtime } = site
    await runtime
      .as('alice')
      .wait((await runtime.as('alice').run({ thread: 'other', agent: 'echo', prompt: marker })).id)
    await runtime.as('bob').run({ thread: 'other', agent: 'echo', prompt: 'the last' })
    await socket.until(({ event }) => event?.type === 'task.completed')
    expect(JSON.stringify(socket.frames)).not.toContain(marker)
    socket.drop()
    await runtime.as('alice').deleteThread('other')
  })

  it('nothing that alice has was changed by all of this', async () => {
    expect(await world.all()).toBe(before)
  })
}

const bearerOfCarol = { authorization: `Bearer ${tokens.carol}` }

describe.each(['serve', 'serve under a base path'] as const)('%s', suite)
