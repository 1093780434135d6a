import type { SchemaIssue, StandardSchema } from '../standard-schema.ts'

/** Refuses an input that is not right where it is asked for. Prompts are texts, and parts and results lists: they pass. */
export function refusingSchema(issuesOf: (input: unknown) => readonly SchemaIssue[]): StandardSchema {
  const validate = (value: unknown) => {
    const issues = typeof value === 'string' || Array.isArray(value) ? [] : issuesOf(value)
    return issues.length > 0 ? { issues } : { value }
  }
  return { '~standard': { version: 1, vendor: 'holdfast', validate } }
}
