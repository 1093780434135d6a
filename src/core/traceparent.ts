// Version 00 of the header; ids of zeros alone are no ids.
const form = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Whether a value is what the header `traceparent` of W3C Trace Context holds. */
export function isTraceparent(value: unknown): value is string {
  return typeof value === 'string' && form.test(value)
}
