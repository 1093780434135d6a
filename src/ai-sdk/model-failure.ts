import { APICallError } from 'ai'
import { errorText } from '../core/outcome.ts'

/** A failure of a model call as it is recorded: what the SDK looks at to decide whether to try again. */
export interface ModelFailure {
  readonly name: string
  readonly message: string
  readonly code?: string
  /** There if a provider's API answered, or could not be reached. */
  readonly call?: { readonly url: string; readonly isRetryable: boolean; readonly statusCode?: number }
}

export function modelFailure(error: unknown): ModelFailure {
  if (!(error instanceof Error)) return { name: 'Error', message: errorText(error) }
  const { name, message } = error
  const code = (error as { readonly code?: unknown }).code
  const about = { name, message, ...(typeof code === 'string' && { code }) }
  if (!APICallError.isInstance(error)) return about
  const { url, isRetryable, statusCode } = error
  return { ...about, call: { url, isRetryable, ...(statusCode !== undefined && { statusCode }) } }
}

/** The failure met again. The SDK comes to the same decision, and tries again at once: the wait was served before. */
export function failureError({ name, message, code, call }: ModelFailure): Error {
  if (!call) return Object.assign(new Error(message), { name, ...(code !== undefined && { code }) })
  return new APICallError({ message, requestBodyValues: {}, responseHeaders: { 'retry-after-ms': '0' }, ...call })
}
