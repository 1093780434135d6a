import { type Client, isHoldfastError } from 'holdfast/client'
import { growTree } from './task-tree.ts'

interface LogAsked {
  readonly thread: string
  /** The file is named after it. */
  readonly task: string
  /** The tasks of a tree, of which all events are wanted, as far as the page knows them. Else those of the task alone. */
  readonly tree?: readonly string[]
}

const pageCount = 1000
const keptMs = 60_000

/** Gives the whole log as a file, one event per line, as the server has it: not only what the page has kept. */
export async function downloadLog(client: Client, { thread, task, tree }: LogAsked): Promise<void> {
  const lines: string[] = []
  const ids = tree && new Set(tree)
  let after = await firstAfter(client, thread)
  for (;;) {
    const page = await client.events(thread, { ...(!ids && { task }), after, limit: pageCount })
    for (const event of page.events) {
      if (ids) growTree(ids, event)
      if (!ids || (event.task !== undefined && ids.has(event.task))) lines.push(JSON.stringify(event))
    }
    if (page.next >= page.head) break
    after = page.next
  }
  save(
    `${task}.ndjson`,
    lines.map((line) => `${line}\n`),
  )
}

/** Where the log begins: what was removed by age cannot be asked for. */
async function firstAfter(client: Client, thread: string): Promise<number> {
  try {
    await client.events(thread, { after: 0, limit: 1 })
    return 0
  } catch (error) {
    if (!isHoldfastError(error, 'offset_gone')) throw error
    return Number(error.facts['first']) - 1
  }
}

function save(name: string, lines: string[]): void {
  const url = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser may begin to read it only after this turn, and does not say when it is done.
  setTimeout(() => URL.revokeObjectURL(url), keptMs)
}
