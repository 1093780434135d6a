import { type RefObject, useEffect, useState } from 'react'

/**
 * A text that outlives the page, kept by the browser under a name. An empty one is not kept. What another tab makes of it is
 * taken over, unless somebody is writing here, in its field.
 */
export function useKeptText(
  name: string,
  fieldRef?: RefObject<HTMLElement | null>,
): readonly [text: string, setText: (text: string) => void] {
  const keptAs = `holdfast.${name}`
  const [text, setText] = useState(() => read(keptAs))
  useEffect(() => {
    const onStorage = ({ key }: StorageEvent) => {
      const isWriting = document.hasFocus() && document.activeElement === fieldRef?.current
      if (key === keptAs && !isWriting) setText(read(keptAs))
    }
    addEventListener('storage', onStorage)
    return () => removeEventListener('storage', onStorage)
  }, [keptAs, fieldRef])
  const set = (next: string): void => {
    setText(next)
    write(keptAs, next)
  }
  return [text, set]
}

/** Forgets what somebody wrote and chose here, who leaves the browser to others. */
export function forgetTexts(): void {
  try {
    for (const keptAs of Object.keys(localStorage)) {
      if (/^holdfast\.(draft|agent)\./.test(keptAs)) localStorage.removeItem(keptAs)
    }
  } catch {
    // Where nothing may be kept, nothing was.
  }
}

function read(keptAs: string): string {
  try {
    return localStorage.getItem(keptAs) ?? ''
  } catch {
    return ''
  }
}

function write(keptAs: string, text: string): void {
  try {
    if (text === '') localStorage.removeItem(keptAs)
    else localStorage.setItem(keptAs, text)
  } catch {
    // Where nothing may be kept, it lasts as long as the page.
  }
}
