interface Page {
  readonly navigator?: { readonly onLine?: boolean }
  addEventListener?(type: string, listener: () => void): void
  removeEventListener?(type: string, listener: () => void): void
}

const changes = ['online', 'offline']

/** Tells whether a browser has a network, now and when that changes; elsewhere there is one. Returns what ends it. */
export function watchNetwork(onChange: (isThere: boolean) => void): () => void {
  const page = globalThis as Page
  const tell = () => onChange(page.navigator?.onLine !== false)
  for (const type of changes) page.addEventListener?.(type, tell)
  tell()
  return () => {
    for (const type of changes) page.removeEventListener?.(type, tell)
  }
}
