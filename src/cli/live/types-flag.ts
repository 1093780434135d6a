import { InvalidArgumentError } from 'commander'

/** Reads a comma list of types of events; given twice, the parts add up. A server may have types this program does not know. */
export function typesFlag(text: string, before: readonly string[] = []): readonly string[] {
  const types = text.split(',').map((part) => part.trim())
  if (types.every((type) => /^[a-z_.]+$/.test(type))) return [...before, ...types]
  throw new InvalidArgumentError('It is no list of types such as text.delta,tool.call.')
}
