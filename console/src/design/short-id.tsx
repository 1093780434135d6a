import { Tooltip } from './tooltip.tsx'

const wholeMax = 10

/** The end of an id, which is what tells two of them apart; whole where it is short. */
export function ShortId({ id }: { readonly id: string }) {
  const text = <span className="font-mono text-xs text-ink-faint">{shortId(id)}</span>
  return id.length <= wholeMax ? text : <Tooltip text={id}>{text}</Tooltip>
}

function shortId(id: string): string {
  return id.length <= wholeMax ? id : `…${id.slice(-6)}`
}
