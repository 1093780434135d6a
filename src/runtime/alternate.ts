/** One of each in turns, beginning with the first, and then what is left of the longer. */
export function alternate<Each>(first: readonly Each[], second: readonly Each[]): Each[] {
  const pairs = first.flatMap((each, index) => [each, ...second.slice(index, index + 1)])
  return [...pairs, ...second.slice(first.length)]
}
