import type { z } from 'zod'
import { HoldfastError } from '../../core/errors.ts'

/** What is wrong with a request, and where. */
export interface Fault {
  /** Names of fields and places in lists, joined by points; empty for the whole. */
  readonly path: string
  readonly message: string
}

/** What a schema gives for JSON, in which a field is there or not, but never undefined. */
export type Parsed<Schema extends z.ZodType> = Given<z.output<Schema>>
type Given<Value> = Value extends readonly (infer Item)[]
  ? Given<Item>[]
  : Value extends object
    ? { [Field in keyof Value]: Given<Exclude<Value[Field], undefined>> }
    : Value

// Enough to mend a request by; a hostile one can be wrong in as many places as it has room for.
const faultCountMax = 20
const pathLengthMax = 200

/** Gives what a schema makes of a value, or throws `invalid_request` with all that is wrong. */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): Parsed<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data as Parsed<Schema>
  throw invalidRequest(parsed.error.issues.flatMap(toFaults))
}

export function invalidRequest(faults: readonly Fault[]): HoldfastError {
  const [first] = faults
  const message = first?.path ? `${first.path}: ${first.message}` : (first?.message ?? 'The request is not valid')
  return new HoldfastError('invalid_request', message, { facts: { errors: faults.slice(0, faultCountMax) } })
}

function toFaults(issue: z.core.$ZodIssue): Fault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, faultCountMax)
      .map((key) => ({ path: pathText([...issue.path, key]), message: 'Unknown field' }))
  }
  const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined')
  return [{ path: pathText(issue.path), message: isMissing ? 'Required' : issue.message }]
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map(String).join('.').slice(0, pathLengthMax)
}
