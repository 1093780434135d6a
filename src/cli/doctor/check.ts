import { errorMessage } from '../error-message.ts'
/** What one check found: a sentence, and what to do about it if there is anything. */
export interface Check {
  readonly name: string
  /** `note` is worth knowing, and wrong with nothing. */
  readonly status: 'ok' | 'note' | 'wrong'
  readonly finding: string
  readonly advice?: string
}

export function ok(name: string, finding: string): Check {
  return { name, status: 'ok', finding }
}

export function note(name: string, finding: string, advice?: string): Check {
  return { name, status: 'note', finding, ...(advice !== undefined && { advice }) }
}

export function wrongly(name: string, finding: string, advice: string): Check {
  return { name, status: 'wrong', finding, advice }
}

/** What an error says, whose message ends in what to do. */
export function thrown(name: string, error: unknown): Check {
  return { name, status: 'wrong', finding: errorMessage(error) }
}
