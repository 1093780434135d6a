const isMac = /Mac|iP(hone|ad)/.test(navigator.platform)

const names: Readonly<Record<string, string>> = {
  mod: isMac ? '⌘' : 'Ctrl',
  enter: 'Enter',
}

/** Keys as they stand on the keyboard: `g t` is two in a row, `mod+k` two at once. */
export function Keys({ keys }: { readonly keys: string }) {
  const strokes = keys.split(' ')
  return (
    <span className="inline-flex shrink-0 items-center gap-1.5">
      {strokes.map((stroke, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order of the keys is what they are.
        <span key={at} className="inline-flex items-center gap-1">
          {(stroke === '+' ? [stroke] : stroke.split('+')).map((key) => (
            <kbd
              key={key}
              className="grid h-5 min-w-5 place-items-center rounded-sm border border-line bg-sunken px-1 font-mono text-xs text-ink-soft"
            >
              {names[key] ?? (keys.startsWith('mod') ? key.toUpperCase() : key)}
            </kbd>
          ))}
        </span>
      ))}
    </span>
  )
}
