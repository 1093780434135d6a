interface Shown {
  readonly parts: readonly object[]
}

/**
 * The parts of a message, made by the AI SDK from a stream or given to it to begin with, in one form. A stream has no place for
 * the name of a file, so it travels beside it; and it numbers what was thought.
 */
export function partsOf(message: Shown | undefined): unknown[] {
  const plain = JSON.parse(JSON.stringify(message?.parts ?? [])) as Record<string, unknown>[]
  return plain.map(({ providerMetadata, filename, ...part }) => {
    const name = filename ?? (providerMetadata as { holdfast?: { name: string } } | undefined)?.holdfast?.name
    if (part['type'] === 'reasoning') delete part['id']
    return { ...part, ...(name !== undefined && { filename: name }) }
  })
}
