import { HoldfastError } from '../core/errors.ts'

// A backslash parts segments as well for whoever reads the path as a URL.
const dotSegment = /[/\\](?:\.|%2e){1,2}(?=[/\\]|$)/i

/**
 * Throws if an address, as it was sent, has a path with a segment `.` or `..`, escaped or not. Whoever reads it as a URL
 * removes them, so that it would name something that nobody meant: with the thread `..`, the events of all threads.
 */
export function checkDotSegments(url: string): void {
  const end = url.search(/[?#]/)
  if (!dotSegment.test(end === -1 ? url : url.slice(0, end))) return
  throw new HoldfastError('invalid_request', 'The path has a segment . or .., which no address here has')
}
