import { HoldfastError } from './errors.ts'

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

/** The id of a task, such as `bg_0`. Opaque: only whether two are equal means something. */
export type TaskId = Branded<'TaskId'>
/** The id of a thread, which is its principal's own: two principals may use the same. */
export type ThreadId = Branded<'ThreadId'>
/** Who asks. It owns threads, and so the tasks in them. */
export type Principal = Branded<'Principal'>

/**
 * `principal/thread`: thread ids are the principal's own, so the pair is what the store keys by. A principal
 * has no slash, so the first one parts them.
 */
export type ThreadKey = Branded<'ThreadKey'>

/** JSON as it was first encoded. Kept as text, so that what is read is byte for byte what was written. */
export type JsonText = string

/** What a thread id is. URLs remove the segments `.` and `..`, so nobody could ask for threads of that name. */
export const threadPattern = /^(?!\.{1,2}$)[A-Za-z0-9._:@~-]{1,128}$/
export const threadRule = 'A thread id is 1-128 characters of A-Za-z0-9._:@~-, but not . or ..'
// Visible ASCII without the slash that ends it in a thread key.
const principalPattern = /^[!-.0-~]{1,128}$/

export function threadId(text: string): ThreadId {
  if (typeof text === 'string' && threadPattern.test(text)) return text as ThreadId
  throw new HoldfastError('invalid_request', threadRule)
}

export function principal(text: string): Principal {
  if (typeof text === 'string' && principalPattern.test(text)) return text as Principal
  throw new HoldfastError('invalid_request', 'A principal is 1-128 visible ASCII characters without "/"')
}

/** Any string can be asked for: an id nobody has simply names no task. */
export function taskId(text: string): TaskId {
  return text as TaskId
}

export function threadKey(owner: Principal, thread: ThreadId): ThreadKey {
  return `${owner}/${thread}` as ThreadKey
}

export function principalOf(key: ThreadKey): Principal {
  return key.slice(0, key.indexOf('/')) as Principal
}

export function threadOf(key: ThreadKey): ThreadId {
  return key.slice(key.indexOf('/') + 1) as ThreadId
}

/** The n of `bg_n`, or undefined for an id of another shape. */
export function taskNumber(id: string): number | undefined {
  const digits = /^bg_(0|[1-9][0-9]{0,14})$/.exec(id)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
