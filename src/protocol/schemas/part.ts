import { z } from 'zod'
import { anyJson } from './words.ts'

const text = { type: z.literal('text'), text: z.string() }
const reasoning = { type: z.literal('reasoning'), text: z.string() }
const tool = {
  type: z.literal('tool'),
  id: z.string(),
  name: z.string(),
  input: anyJson,
  output: z.unknown().optional(),
  error: z.string().optional(),
}
const file = { type: z.literal('file'), mediaType: z.string(), name: z.string().optional(), url: z.string() }
const data = { type: z.literal('data'), name: z.string(), value: anyJson }

/** A part in a request. */
export const givenPart = z
  .discriminatedUnion('type', [
    z.strictObject(text),
    z.strictObject(reasoning),
    z.strictObject(tool),
    z.strictObject(file),
    z.strictObject(data),
  ])
  .meta({ id: 'GivenPart' })

/** A part in an answer, to which later versions may add fields. */
export const part = z
  .discriminatedUnion('type', [z.object(text), z.object(reasoning), z.object(tool), z.object(file), z.object(data)])
  .meta({ id: 'Part' })
