import { expect, it } from 'vitest'
import { createRuntime, echoAgent, type Runtime } from '../../../../src/index.ts'
import type { ServerFrame } from '../../../../src/protocol/frames.ts'
import { Attachments, type AttachmentsParts } from '../../../../src/server/websocket/attachments.ts'
import { memoryStore } from '../../../../src/stores/memory/index.ts'

it('an attach whose snapshot cannot be made leaves no log open', async () => {
  const runtime = createRuntime({ store: memoryStore(), agents: {} })
  const opened: string[] = []
  const asked: Pick<Runtime, 'thread' | 'openLog'> = {
    thread: (thread) => runtime.thread(thread),
    openLog: (options) => {
      opened.push(options.thread)
      return runtime.openLog(options)
    },
  }
  const snapshots = {
    share: () => {
      throw new RangeError('Invalid string length')
    },
  }
  const parts = { runtime: asked, principal: 'owner', snapshots } as unknown as AttachmentsParts
  const attachments = new Attachments(parts)
  await expect(attachments.attach({ type: 'attach', thread: 't' })).rejects.toThrow('Invalid string length')
  expect(opened).toEqual([])
  await runtime.close()
})

it('an attach whose thread is deleted after its snapshot was made begins with another', async () => {
  const runtime = createRuntime({ store: memoryStore(), agents: { echo: echoAgent() } })
  let isDeleted = false
  const asked: Pick<Runtime, 'thread' | 'openLog'> = {
    thread: async (thread) => {
      const snapshot = await runtime.thread(thread)
      if (isDeleted) return snapshot
      isDeleted = true
      await runtime.wait((await runtime.run({ thread, agent: 'echo', prompt: 'late' })).id)
      await runtime.deleteThread(thread)
      return snapshot
    },
    openLog: (options) => runtime.openLog(options),
  }
  const sent: ServerFrame[] = []
  const parts = {
    runtime: asked,
    principal: 'owner',
    snapshots: { share: (_principal: string, _thread: string, frame: ServerFrame) => frame },
    outbox: { hasRoom: true },
    send: (frame: ServerFrame) => sent.push(frame),
  } as unknown as AttachmentsParts
  const attachments = new Attachments(parts)
  await attachments.attach({ type: 'attach', id: 'a', thread: 't' })
  const { head, first } = await runtime.thread('t')
  expect(head).toBeGreaterThan(0)
  expect(sent).toMatchObject([
    { type: 'attached', id: 'a', head },
    { type: 'snapshot', id: 'a', head, first },
  ])
  attachments.close()
  await runtime.close()
})
