const fence = /^ {0,3}(`{3,}|~{3,})/
// What begins with one of these may belong to what stands before it: lists, quotes, tables, indented lines.
const mayContinue = /^(?:[ \t]|[-*+](?:\s|$)|\d+[.)](?:\s|$)|>|\||\[\^)/
// A text that defines links or notes for all of it can only be read as a whole.
const definition = /^ {0,3}\[[^\]\n]+\]:/m

/**
 * Cuts Markdown into stretches that read the same apart as together, so that of a text that grows only the last has to be
 * laid out anew. Joined, they are the text.
 */
export function textBlocks(text: string): string[] {
  if (definition.test(text)) return [text]
  const blocks: string[] = []
  let from = 0
  let isAfterBlank = false
  let open: string | undefined
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at)
    const next = end === -1 ? text.length : end + 1
    const line = text.slice(at, next)
    const isBlank = line.trim() === ''
    if (!open && isAfterBlank && !isBlank && !mayContinue.test(line)) {
      blocks.push(text.slice(from, at))
      from = at
    }
    open = openAfter(open, line)
    isAfterBlank = isBlank
    at = next
  }
  return [...blocks, text.slice(from)]
}

/** The fence that is open after a line. One is closed by at least as many of the same characters, alone. */
function openAfter(open: string | undefined, line: string): string | undefined {
  const marks = fence.exec(line)?.[1]
  if (!marks) return open
  if (!open) return marks
  const closes = marks.startsWith(open) && line.trim() === marks
  return closes ? undefined : open
}
