const lineEnds = /[\u0085\u2028\u2029]/g

/**
 * JSON with those line ends escaped that JSON lets stand as they are. A log is sent as lines, and many readers of lines
 * end one there as well.
 */
export function oneLine(json: string): string {
  if (isOneLine(json)) return json
  return json.replace(lineEnds, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Whether there is nothing to escape. */
export function isOneLine(text: string): boolean {
  // Three searches of the platform cost less than one by pattern, and nearly no text holds any of them.
  return !text.includes('\u2028') && !text.includes('\u2029') && !text.includes('\u0085')
}
