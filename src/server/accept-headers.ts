import { z } from 'zod'
import { isTraceparent } from '../core/traceparent.ts'
import { parse } from '../protocol/schemas/parse.ts'
import { idempotencyKey } from '../protocol/schemas/words.ts'
import type { AppContext } from './app-env.ts'

/** The headers that a request for work may carry beside its body. */
export const acceptHeaders = z.object({
  'Idempotency-Key': idempotencyKey.optional(),
  traceparent: z.string().optional().meta({ description: 'W3C trace context; one that is malformed is ignored' }),
})

const keyHeader = z.object({ 'Idempotency-Key': idempotencyKey })

/** What those headers say. The key must be right, since work is done twice by a wrong one; the trace need not be. */
export function acceptOptions(c: AppContext): { readonly idempotencyKey?: string; readonly traceparent?: string } {
  const { headers } = c.req.raw
  const key = headers.get('idempotency-key')
  const traceparent = headers.get('traceparent')
  if (key !== null) parse(keyHeader, { 'Idempotency-Key': key })
  return {
    ...(key !== null && { idempotencyKey: key }),
    ...(traceparent !== null && isTraceparent(traceparent) && { traceparent }),
  }
}
