// @dbos-inc/dbos-sdk on PostgreSQL: a run is a workflow whose one step writes to a durable stream, as its page on streaming agents
// shows, and a route reads that stream. Given: the URL of the database. Its own settings: a pool of 10, LISTEN and NOTIFY on.

import { DBOS } from '@dbos-inc/dbos-sdk'
import { type Sse, serveHost } from './sse-host.ts'
import { answerDriver, noteEnded, noteWaiting, produce, type Work } from './work.ts'

const key = 'events'
const waitSeconds = 3600

async function runWork(work: Work): Promise<void> {
  if (work.kind === 'emit') {
    if ((work.count ?? 0) > 0) {
      await DBOS.runStep(() => produce(work, (tick) => DBOS.writeStream(key, tick)), { name: 'produce' })
      await DBOS.closeStream(key)
    }
    noteEnded()
    return
  }
  noteWaiting()
  await DBOS.recv('go', waitSeconds)
}

const workflow = DBOS.registerWorkflow(runWork, { name: 'run' })
DBOS.setConfig({ name: 'bench', systemDatabaseUrl: process.argv[2] ?? '', logLevel: 'error' })
await DBOS.launch()

async function stream(id: string, after: number, open: () => Sse): Promise<void> {
  const sse = open()
  for await (const tick of DBOS.readStream(id, key, { offset: after })) {
    if (sse.isClosed) return
    await sse.send(tick)
  }
  sse.end()
}

const accept = async (id: string, work: Work): Promise<void> => {
  await DBOS.startWorkflow(workflow, { workflowID: id })(work)
}

const url = await serveHost({
  accept,
  stream,
  async acceptAndStream(id, work, open) {
    await accept(id, work)
    await stream(id, 0, open)
  },
  cancel: (id) => DBOS.cancelWorkflow(id),
})
answerDriver(url)
