import { byteLength } from './fits-in.ts'
import type { TaskId } from './id.ts'
import { LazyMap } from './lazy-map.ts'
import type { Mail } from './unit.ts'

/**
 * What the live tasks of a thread have not read, for each in the order in which it reads. It may be a hundred thousand messages,
 * so each is linked to those beside it, and to add or drop one looks at no other.
 */
export class Unread {
  /** For each task a link without mail, which stands before the first and after the last. */
  readonly #inboxes = new LazyMap<TaskId, Link>()
  readonly #links = new LazyMap<string, Link>()
  #messageBytes = 0

  /** About what the messages among it take. */
  get messageBytes(): number {
    return this.#messageBytes
  }

  *of(task: TaskId): Generator<Mail, void, undefined> {
    for (let link = this.#inboxes.get(task)?.after; link?.mail; link = link.after) yield link.mail
  }

  add(mail: Mail): void {
    const inbox = this.#inboxes.get(mail.task) ?? new Link()
    const link = new Link(mail)
    let before = inbox.before
    // What is collected goes back to the place of its end, before messages that came later.
    while (before.mail && before.mail.place > mail.place) before = before.before
    link.putAfter(before)
    this.#inboxes.set(mail.task, inbox)
    this.#links.set(mail.id, link)
    this.#messageBytes += link.bytes
  }

  drop(id: string): void {
    const link = this.#links.get(id)
    if (!link?.mail) return
    this.#links.delete(id)
    this.#messageBytes -= link.bytes
    link.before.after = link.after
    link.after.before = link.before
    if (link.before === link.after) this.#inboxes.delete(link.mail.task)
  }

  dropAllOf(task: TaskId): void {
    for (const { id } of this.of(task)) this.drop(id)
  }

  clear(): void {
    this.#inboxes.clear()
    this.#links.clear()
    this.#messageBytes = 0
  }
}

class Link {
  readonly mail: Mail | undefined
  readonly bytes: number
  before: Link = this
  after: Link = this

  constructor(mail?: Mail) {
    this.mail = mail
    this.bytes = mail ? messageBytesOf(mail) : 0
  }

  putAfter(before: Link): void {
    this.before = before
    this.after = before.after
    this.after.before = this
    before.after = this
  }
}

/** Of what stands around a message: ids, names, a row and an object. */
export const messageOverheadBytes = 256

/** About what a message takes that waits to be read. The end of a child is none, and what steers counts as what a run is given. */
export function messageBytesOf({ content, from = '', steer, ended }: Omit<Mail, 'id' | 'task' | 'place'>): number {
  if (steer !== undefined || ended !== undefined) return 0
  return byteLength(content) + byteLength(from) + messageOverheadBytes
}
