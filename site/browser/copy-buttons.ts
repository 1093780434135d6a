/** Gives every block of code a button that copies it. */
export function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLPreElement>('pre.code:not(.source)')) {
    const frame = document.createElement('div')
    frame.className = 'code-frame'
    block.replaceWith(frame)
    frame.append(block, copyButton(block))
  }
}

function copyButton(block: HTMLPreElement): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', () => {
    copy(textOf(block)).then(
      () => say(button, 'Copied'),
      () => say(button, 'Not copied'),
    )
  })
  // It says how it went until somebody leaves it.
  for (const leaving of ['mouseleave', 'blur']) button.addEventListener(leaving, () => say(button, 'Copy'))
  return button
}

function say(button: HTMLButtonElement, text: string): void {
  button.textContent = text
}

/** Of what was typed at a prompt, the commands alone: what they printed is not to be typed again. */
function textOf(block: HTMLPreElement): string {
  const text = block.textContent
  if (block.dataset['language'] !== 'console') return text.trimEnd()
  let isTyped = false
  const typed = text.split('\n').filter((line) => {
    isTyped = line.startsWith('$ ') || (isTyped && line.startsWith('> '))
    return isTyped
  })
  return typed.map((line) => line.slice(2)).join('\n')
}

async function copy(text: string): Promise<void> {
  // A page from a disk has no clipboard of this kind in every browser.
  if (!('clipboard' in navigator)) throw new Error('There is no clipboard')
  await navigator.clipboard.writeText(text)
}
