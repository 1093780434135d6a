import { useEffect, useRef } from 'react'
import { PaletteList } from './palette-list.tsx'

interface PaletteProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Finds whatever can be done or gone to, by a few letters of it. */
export function Palette({ isOpen, onClose }: PaletteProps) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = ref.current
    if (!isOpen) dialog?.close()
    if (!isOpen || !dialog || dialog.open) return
    dialog.showModal()
    // The platform gives the focus to the list as a whole, into which nobody can type.
    dialog.querySelector('input')?.focus()
  }, [isOpen])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the platform closes a dialog on Escape; a click beside it is one way more.
    <dialog
      ref={ref}
      aria-label="Commands"
      // It is told a moment later, when it may be open again.
      onClose={() => ref.current?.open || onClose()}
      onClick={(event) => event.target === ref.current && onClose()}
      className="m-auto mt-[10vh] w-[calc(100vw-2rem)] max-w-xl overflow-hidden rounded-lg border border-line bg-raised p-0 text-ink shadow-raised"
    >
      {isOpen && <PaletteList onClose={onClose} />}
    </dialog>
  )
}
