import type { InboxItem } from '../../../core/inbox-item.ts'
import type { AgentContext } from '../../agent.ts'

type Custom = Extract<InboxItem, { kind: 'custom' }>
type End = Exclude<InboxItem, Custom>

const noteLengthMax = 200

/** Reads how helpers end, and in between what people write, which is answered when the run has said what it is saying. */
export async function hearEnds(ctx: AgentContext, count: number, said: Promise<void>, notes: string[]): Promise<End[]> {
  const ends: End[] = []
  while (ends.length < count) {
    const item = await ctx.receive()
    if (item?.kind === 'custom') {
      await said
      await acknowledge(ctx, item, notes)
    } else if (item) {
      ends.push(item)
      await ctx.progress(progressAfter(ends.length, count), `${ends.length} of ${count} helpers are done`)
    }
  }
  return ends
}

// How much of the whole the helpers are; the rest is the report.
const helpersShare = 0.8

function progressAfter(count: number, of: number): number {
  return (helpersShare * count) / of
}

/** Reads what people have written by now, and waits for nothing. What a run leaves unread becomes a run of its own. */
export async function hearPeople(ctx: AgentContext, notes: string[]): Promise<void> {
  for (;;) {
    const item = await ctx.receive({ timeoutMs: 0, only: 'messages' })
    if (item?.kind !== 'custom') return
    await acknowledge(ctx, item, notes)
  }
}

async function acknowledge(ctx: AgentContext, { payload }: Custom, notes: string[]): Promise<void> {
  const note = noteOf((payload as { readonly content: unknown }).content)
  notes.push(note)
  await ctx.say(`Noted: “${note}”. `)
}

/** A prompt is a text or a list of parts, and a program may send anything. */
function noteOf(content: unknown): string {
  const texts = Array.isArray(content) ? content.map(noteOfPart) : [noteOfPart(content)]
  return texts.join(' ').trim().slice(0, noteLengthMax)
}

function noteOfPart(part: unknown): string {
  if (typeof part === 'string') return part
  const { text } = (part ?? {}) as { readonly text?: unknown }
  return typeof text === 'string' ? text : JSON.stringify(part)
}
