import { useState } from 'react'

/** A text that outlives the page, kept by the browser under a name. An empty one is not kept. */
export function useKeptText(name: string): readonly [text: string, setText: (text: string) => void] {
  const keptAs = `holdfast.${name}`
  const [text, setText] = useState(() => read(keptAs))
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
