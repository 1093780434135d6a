import { type Field, isObject } from './field.ts'

/**
 * What a person has filled in so far, in the shape of its field: text for texts, numbers and JSON; the place among the
 * options for a choice; undefined for what is not given.
 */
export type Draft = string | boolean | undefined | readonly Draft[] | DraftGroup

export interface DraftGroup {
  readonly [name: string]: Draft
}

export interface Fault {
  /** As the server names places, such as `input.items.0`. */
  readonly path: string
  readonly message: string
}

type Read = { readonly value?: unknown; readonly faults: readonly Fault[] }

/** What a field shows before anybody has typed. */
export function draftOf(field: Field, value: unknown = field.default): Draft {
  switch (field.kind) {
    case 'text':
      return typeof value === 'string' ? value : ''
    case 'number':
      return typeof value === 'number' ? String(value) : ''
    case 'flag':
      return typeof value === 'boolean' ? value : undefined
    case 'choice': {
      const at = field.options.findIndex((option) => JSON.stringify(option) === JSON.stringify(value))
      return at === -1 ? '' : String(at)
    }
    case 'list':
      return Array.isArray(value) ? value.map((item) => draftOf(field.item, item)) : []
    case 'group': {
      const given = isObject(value) ? value : {}
      return Object.fromEntries(field.members.map(({ name, field: member }) => [name, draftOf(member, given[name])]))
    }
    case 'json':
      return value === undefined ? '' : JSON.stringify(value, undefined, 2)
  }
}

/** The input that a draft stands for, or what is missing in it. What the server knows better is left to the server. */
export function readDraft(field: Field, draft: Draft, path = 'input', isRequired = true): Read {
  switch (field.kind) {
    case 'text':
      return readText(field, draft, path, isRequired)
    case 'number':
      return readNumber(field, draft, path, isRequired)
    case 'flag':
      return typeof draft === 'boolean'
        ? { value: draft, faults: [] }
        : isRequired
          ? { value: false, faults: [] }
          : none
    case 'choice':
      return draft === undefined || draft === ''
        ? missing(path, isRequired, 'Choose one')
        : { value: field.options[Number(draft)], faults: [] }
    case 'list':
      return readList(field.item, Array.isArray(draft) ? (draft as readonly Draft[]) : [], path, isRequired)
    case 'group':
      return readGroup(field, isDraftGroup(draft) ? draft : {}, path, isRequired)
    case 'json':
      return readJson(draft, path, isRequired)
  }
}

const none: Read = { faults: [] }

function missing(path: string, isRequired: boolean, message: string): Read {
  return isRequired ? { faults: [{ path, message }] } : none
}

function wrong(path: string, message: string): Read {
  return { faults: [{ path, message }] }
}

function readText(field: Extract<Field, { kind: 'text' }>, draft: Draft, path: string, isRequired: boolean): Read {
  const text = typeof draft === 'string' ? draft : ''
  if (text === '' && (!isRequired || (field.minLength ?? 1) > 0)) return missing(path, isRequired, 'This is needed')
  const { maxLength = Number.POSITIVE_INFINITY, minLength = 0 } = field
  if (text.length > maxLength) return wrong(path, `At most ${maxLength} characters; these are ${text.length}`)
  if (text.length < minLength) return wrong(path, `At least ${minLength} characters`)
  return { value: text, faults: [] }
}

function readNumber(field: Extract<Field, { kind: 'number' }>, draft: Draft, path: string, isRequired: boolean): Read {
  const text = typeof draft === 'string' ? draft.trim() : ''
  if (text === '') return missing(path, isRequired, 'A number is needed')
  const value = Number(text)
  if (!Number.isFinite(value)) return wrong(path, 'This is not a number')
  if (field.isWhole && !Number.isInteger(value)) return wrong(path, 'A whole number is needed')
  if (field.minimum !== undefined && value < field.minimum) return wrong(path, `At least ${field.minimum}`)
  if (field.maximum !== undefined && value > field.maximum) return wrong(path, `At most ${field.maximum}`)
  return { value, faults: [] }
}

function readList(item: Field, drafts: readonly Draft[], path: string, isRequired: boolean): Read {
  if (drafts.length === 0 && !isRequired) return none
  const read = drafts.map((draft, at) => readDraft(item, draft, `${path}.${at}`))
  // What is not filled in yet has a fault, and is nothing to send.
  return {
    value: read.flatMap(({ value }) => (value === undefined ? [] : [value])),
    faults: read.flatMap(({ faults }) => faults),
  }
}

function readGroup(
  field: Extract<Field, { kind: 'group' }>,
  drafts: DraftGroup,
  path: string,
  isRequired: boolean,
): Read {
  const read = field.members.map(({ name, field: member, isRequired: isNeeded }) => ({
    name,
    read: readDraft(member, drafts[name], `${path}.${name}`, isNeeded),
  }))
  const given = read.filter(({ read: { value } }) => value !== undefined)
  // One that may be left out is, until something in it is filled in.
  if (!isRequired && given.length === 0) return none
  const value = Object.fromEntries(given.map(({ name, read: { value: member } }) => [name, member]))
  return { value, faults: read.flatMap(({ read: { faults } }) => faults) }
}

function readJson(draft: Draft, path: string, isRequired: boolean): Read {
  const text = typeof draft === 'string' ? draft.trim() : ''
  if (text === '') return missing(path, isRequired, 'JSON is needed')
  try {
    return { value: JSON.parse(text) as unknown, faults: [] }
  } catch (error) {
    return wrong(path, error instanceof Error ? error.message : 'This is not JSON')
  }
}

export function isDraftGroup(draft: Draft): draft is DraftGroup {
  return typeof draft === 'object' && !Array.isArray(draft)
}

/** The faults that a refused request names, if it names any. */
export function faultsOf(error: unknown): Fault[] {
  const facts = isObject(error) || error instanceof Error ? (error as { facts?: unknown }).facts : undefined
  const errors = isObject(facts) ? facts['errors'] : undefined
  if (!Array.isArray(errors)) return []
  return errors.flatMap((fault: unknown) => {
    const { path, message } = isObject(fault) ? fault : {}
    return typeof path === 'string' && typeof message === 'string' ? [{ path, message }] : []
  })
}
