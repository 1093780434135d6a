import type { TaskRequest } from '../core/accept.ts'
import { HoldfastError } from '../core/errors.ts'
import { type JsonText, taskId } from '../core/id.ts'
import type { Limits } from '../core/limits.ts'
import type { ParentContext } from '../core/lineage.ts'
import type { Part } from '../core/message.ts'
import { checkName, checkNameText } from '../core/name.ts'
import { type Asked, describe } from '../core/task.ts'
import { isTraceparent } from '../core/traceparent.ts'
import type { Ask, RunOptions, SpawnOptions } from './agent.ts'
import { checkInbox } from './checked-options.ts'
import { checkFits, encodeWhole } from './encode.ts'

// Shown on one line of a list.
const descriptionLengthMax = 1000
// The longest that a timer of the platform waits in one go; a task that needs longer needs no timeout.
const timeoutMsMax = 2 ** 31 - 1
const metadataName = 'The metadata'

export function spawnRequest(options: SpawnOptions, parent: ParentContext | undefined): TaskRequest {
  const type = options.type ?? 'agent'
  if (type === 'run') throw invalid('Use run() for a task of type run: it joins the queue of its thread')
  if (typeof type !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(type))
    throw invalid('A type is 1-64 characters of A-Za-z0-9_-')
  if ((options.agent === undefined) === (options.run === undefined)) {
    throw invalid('Spawn needs either the name of a registered agent or a function to run')
  }
  if (options.run !== undefined && typeof options.run !== 'function') throw invalid('What to run is a function')
  checkInbox(options.inbox)
  if (options.name !== undefined) checkNameText(options.name)
  const ask = readAsk(options)
  return {
    type,
    ...common(options, ask),
    ...(options.name !== undefined && { name: options.name }),
    ...(parent && { parent }),
    ...(options.detached && { detached: true }),
    inbox: type === 'agent',
    ...(options.run && { closure: true }),
  }
}

export function runRequest(options: RunOptions): TaskRequest {
  const ask = readAsk(options)
  if (ask.asked === 'nothing') throw invalid('A run needs one of prompt, parts and input')
  if (typeof options.agent !== 'string') throw invalid('A run needs the name of a registered agent')
  const onResult = options.onResult ?? 'collect'
  if (onResult !== 'collect' && onResult !== 'wake') throw invalid('onResult is collect or wake')
  return { type: 'run', ...common(options, ask), inbox: true, onResult }
}

/** Refuses what is well formed and yet not taken: a name that stands for something else, and what is too large. */
export function checkRequest({ name, asked, input, metadata }: TaskRequest, limits: Limits): void {
  if (name !== undefined) checkName(name)
  if (input !== undefined) checkFits(input, { what: `The ${asked}`, bytesMax: limits.bodyBytes })
  // It is in the event of the acceptance, where only the input can be left out.
  const bytesMax = Math.min(limits.bodyBytes, limits.eventBytes / 2)
  if (metadata !== undefined) checkFits(metadata, { what: metadataName, bytesMax })
}

/** The parent as a caller names it: plain strings become ids. */
export function parentOf(options: SpawnOptions): ParentContext | undefined {
  const parent = options.parent
  if (!parent) return undefined
  const named = [parent.task, parent.run, parent.call, parent.agent].filter((name) => name !== undefined)
  if (named.some((name) => typeof name !== 'string')) throw invalid('What a parent is known by are strings')
  return {
    ...(parent.task !== undefined && { task: taskId(parent.task) }),
    ...(parent.run !== undefined && { run: taskId(parent.run) }),
    ...(parent.call !== undefined && { call: parent.call }),
    ...(parent.agent !== undefined && { agent: parent.agent }),
  }
}

function common(options: Omit<SpawnOptions, 'parent'>, ask: { asked: Asked; input?: JsonText }) {
  const { agent, description, timeoutMs, metadata, prompt, traceparent } = options
  if (description !== undefined && !(typeof description === 'string' && description.length <= descriptionLengthMax)) {
    throw invalid(`A description is a string of at most ${descriptionLengthMax} characters`)
  }
  if (timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= timeoutMsMax)) {
    throw invalid(`timeoutMs is a whole number of milliseconds from 1 to ${timeoutMsMax}`)
  }
  if (traceparent !== undefined && !isTraceparent(traceparent)) {
    throw invalid('A traceparent is 00-TRACE-SPAN-FLAGS of 32, 16 and 2 hex digits, as W3C Trace Context writes it')
  }
  return {
    ...ask,
    ...(agent !== undefined && { agent }),
    description: describe(description, prompt ?? textOf(options.parts), agent),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(metadata !== undefined && { metadata: encodeWhole(metadata, metadataName) }),
    ...(traceparent !== undefined && { traceparent }),
  }
}

function readAsk(ask: Ask): { asked: Asked; input?: JsonText } {
  const given = (['prompt', 'parts', 'input'] as const).filter((field) => ask[field] !== undefined)
  if (given.length > 1) throw invalid(`Only one of prompt, parts and input may be given, not ${given.join(' and ')}`)
  const asked = given[0]
  if (!asked) return { asked: 'nothing' }
  if (asked === 'prompt' && typeof ask.prompt !== 'string') throw invalid('A prompt is a string')
  if (asked === 'parts') checkParts(ask.parts)
  return { asked, input: encodeWhole(ask[asked], `The ${asked}`) }
}

const partFields: Readonly<Record<Part['type'], readonly string[]>> = {
  text: ['text'],
  reasoning: ['text'],
  tool: ['id', 'name'],
  file: ['mediaType', 'url'],
  data: ['name'],
}

/** Whether a value has all that a part of its type needs. */
export function isPart(value: unknown): value is Part {
  if (typeof value !== 'object' || value === null) return false
  const fields = value as Record<string, unknown>
  const type = String(fields['type'])
  if (!Object.hasOwn(partFields, type)) return false
  return partFields[type as Part['type']].every((field) => typeof fields[field] === 'string')
}

function checkParts(parts: unknown): void {
  if (!Array.isArray(parts) || parts.length === 0) throw invalid('parts is a list of at least one part')
  for (const part of parts as unknown[]) {
    const fields = typeof part === 'object' && part !== null ? (part as Record<string, unknown>) : {}
    const needed = Object.hasOwn(partFields, String(fields['type']))
      ? partFields[fields['type'] as Part['type']]
      : undefined
    if (!needed) throw invalid(`A part has a type, one of ${Object.keys(partFields).join(', ')}`)
    const missing = needed.filter((field) => typeof fields[field] !== 'string')
    if (missing.length > 0) throw invalid(`A ${String(fields['type'])} part needs ${missing.join(' and ')} as text`)
  }
}

function textOf(parts: readonly Part[] | undefined): string | undefined {
  const first = parts?.find((part) => part.type === 'text')
  return first?.type === 'text' ? first.text : undefined
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('invalid_request', message)
}
