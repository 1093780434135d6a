import type { AppContext } from './app-env.ts'
import { answerUnread, isBodyUnread } from './unread-body.ts'

/** Answers that stand for what was written already; all that is read of them is their status. */
const written = new Map<number, Response>()

/**
 * Answers with a text. Where Node's response is at hand it is written to directly, since to make a web response and to
 * read it again costs as much as all the rest of a small request; whoever gave the response sees by `headersSent` that
 * it is taken care of.
 */
export function textAnswer(
  c: AppContext,
  status: number,
  headers: Readonly<Record<string, string>>,
  text: string,
): Response {
  const { incoming, outgoing } = c.env ?? {}
  if (!outgoing) return new Response(text, { status, headers })
  outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) })
  if (isBodyUnread(incoming)) answerUnread(incoming, outgoing, text)
  else outgoing.end(text)
  const known = written.get(status) ?? new Response(null, { status })
  written.set(status, known)
  return known
}
