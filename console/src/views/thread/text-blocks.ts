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

// What is laid out by more than its words: a part of it is something else.
const isLaidOut = /^(?:[ \t]|[-*+](?:\s|$)|\d+[.)](?:\s|$)|>|#|[-=]{2,}|`{3}|~{3})|\|/m
const sentenceEnd = /[.!?…]["'”’»)\]*_`]*\s*|[。！？]/g

/**
 * Where something that happened after so many characters of some blocks can stand without breaking what it happened in: after the
 * sentence, if that is one of plain words, else after the block.
 */
export function cutFrom(blocks: readonly string[], at: number): number {
  let from = 0
  for (const block of blocks) {
    if (at <= from) return from
    if (at < from + block.length) return from + cutInBlock(block, at - from)
    from += block.length
  }
  return from
}

function cutInBlock(block: string, at: number): number {
  if (isLaidOut.test(block) || definition.test(block)) return block.length
  for (const { 0: found, index } of block.matchAll(sentenceEnd)) {
    const end = index + found.length
    const isEnd = end === at || /[\s。！？]$/.test(found)
    if (end >= at && isEnd && isWhole(block.slice(0, end))) return end
  }
  return block.length
}

/** Whether nothing that was begun is still open: strong words, code, a link. */
function isWhole(words: string): boolean {
  const count = (mark: string) => words.split(mark).length - 1
  const isEven = (mark: string) => count(mark) % 2 === 0
  return isEven('`') && isEven('*') && isEven('**') && count('[') === count(']')
}

// Quotes and lists within each other, on one line: nobody writes so many, and each is a call within a call.
const nestedMax = 100
const nested = new RegExp(`^(?:[ \\t]*(?:>|[-*+][ \\t]|\\d+[.)][ \\t])){${nestedMax}}`)
// What these mark is found by comparing each with all others: so many take half a second.
const marksMax = 2_000

/** Whether a block would take a browser too long, or too deep, to be read as Markdown. */
export function isIntricate(block: string): boolean {
  let marks = 0
  let open: string | undefined
  for (const line of block.split('\n')) {
    if (!open && nested.test(line)) return true
    if (!open) marks += line.match(/[*_![]/g)?.length ?? 0
    if (marks > marksMax) return true
    open = openAfter(open, line)
  }
  return false
}

/** The fence that is open after a line. One is closed by at least as many of the same characters, alone. */
function openAfter(open: string | undefined, line: string): string | undefined {
  const marks = fence.exec(line)?.[1]
  if (!marks) return open
  if (!open) return marks
  const closes = marks.startsWith(open) && line.trim() === marks
  return closes ? undefined : open
}
