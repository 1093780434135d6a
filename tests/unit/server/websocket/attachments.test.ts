import { expect, it } from 'vitest'
import { createRuntime, type Runtime } from '../../../../src/index.ts'
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
