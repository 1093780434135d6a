import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import type { Task } from '../../src/core/task.ts'
import { ModelServer } from '../model-server/model-server.ts'
import type { Script } from '../model-server/script.ts'
import { expectStatus, isEndOf } from '../server/harness/client.ts'
import { OwnedProcess } from '../server/harness/owned-process.ts'
import { makeFolder, type StartOptions, TestServer } from '../server/harness/server.ts'
import type { Watcher } from '../server/harness/tape.ts'
import { watchSse } from '../server/harness/watch-sse.ts'

const root = resolve(import.meta.dirname, '../..')

/** `holdfast serve` with an example as its config file. */
class ExampleServer extends TestServer {
  readonly #file: string

  constructor(file: string, options: StartOptions, folder: string) {
    super(options, folder)
    this.#file = file
  }

  async run(agent: string, prompt: string): Promise<Task> {
    return expectStatus(202, this.request<Task>('POST', '/v1/threads/t/runs', { body: { agent, prompt } }))
  }

  async cancel(task: string): Promise<void> {
    await expectStatus(200, this.request('POST', `/v1/tasks/${task}/cancel`, { body: {} }))
  }

  watch(task: string): Promise<Watcher> {
    return watchSse(this, { thread: 't', task })
  }

  /** The task once it has ended. */
  async ended(task: string): Promise<Task> {
    const watcher = await this.watch(task)
    await watcher.until(isEndOf(task))
    return expectStatus(200, this.request<Task>('GET', `/v1/tasks/${task}`))
  }

  /** All events of the task by now. */
  async log(task: string): Promise<readonly Event[]> {
    const path = `/v1/threads/t/events?limit=1000&task=${task}`
    return (await expectStatus(200, this.request<{ events: Event[] }>('GET', path))).events
  }

  protected override launch(env: Readonly<Record<string, string>>): OwnedProcess {
    const config = join(root, 'examples', this.#file)
    return new OwnedProcess({
      arguments: [join(root, 'bin/holdfast.js'), 'serve', '--port', '0', '--config', config],
      env,
    })
  }
}

/** Serves an example on SQLite until the test has finished. */
export async function serveExample(file: string, env: Readonly<Record<string, string>> = {}): Promise<ExampleServer> {
  const server = new ExampleServer(file, { store: 'sqlite', env }, await makeFolder())
  onTestFinished(() => server.end())
  await server.start()
  return server
}

/** The same, with a model that answers by a script. */
export async function serveWithModel(
  file: string,
  script: Script,
): Promise<{ server: ExampleServer; model: ModelServer }> {
  const model = await ModelServer.start(script)
  onTestFinished(() => model.close())
  const server = await serveExample(file, { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'scripted' })
  return { server, model }
}

/** What was said, as far as it counts. */
export function textOf(events: readonly Event[]): string {
  const resumed = events.findLast((event) => event.type === 'task.resumed')
  const keep = resumed?.type === 'task.resumed' ? resumed.data.keep : 0
  const counts = ({ seq }: Event) => resumed === undefined || seq <= keep || seq > resumed.seq
  return events.flatMap((event) => (event.type === 'text.delta' && counts(event) ? event.data.text : [])).join('')
}
