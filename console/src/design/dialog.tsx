import { X } from 'lucide-react'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Button } from './button.tsx'

interface DialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: string
  readonly children: ReactNode
  /** Its buttons, at the end of it. */
  readonly footer?: ReactNode
  readonly width?: 'narrow' | 'wide'
}

/**
 * The dialog of the platform: it keeps the focus inside, at first in the field that is to be written in, closes on Escape and puts
 * the focus back, and adds no style element, which the policy of the page would refuse.
 */
export function Dialog({ isOpen, onClose, title, children, footer, width = 'narrow' }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const dialog = ref.current
    if (!isOpen) dialog?.close()
    if (!isOpen || !dialog || dialog.open) return
    dialog.showModal()
    // The platform gives the focus to the first button, which closes it: whoever types would lose the text at its first space.
    dialog.querySelector<HTMLElement>('input, textarea')?.focus()
  }, [isOpen])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the platform closes a dialog on Escape; a click beside it is one way more.
    <dialog
      ref={ref}
      aria-labelledby={titleId}
      // It is told a moment later, when it may be open again.
      onClose={() => ref.current?.open || onClose()}
      onClick={(event) => event.target === ref.current && onClose()}
      className={`m-auto mt-[12vh] w-[calc(100vw-2rem)] rounded-lg border border-line bg-raised p-0 text-ink shadow-raised ${width === 'wide' ? 'max-w-2xl' : 'max-w-md'}`}
    >
      {isOpen && (
        <div className="animate-appear">
          <header className="flex items-center justify-between gap-4 pt-4 pr-3 pl-5">
            <h2 id={titleId} className="text-md font-semibold">
              {title}
            </h2>
            <Button look="quiet" isIcon aria-label="Close" onClick={onClose}>
              <X size={16} aria-hidden />
            </Button>
          </header>
          <div className="px-5 pt-2 pb-5">{children}</div>
          {footer && <footer className="flex justify-end gap-2 border-t border-line px-5 py-3">{footer}</footer>}
        </div>
      )}
    </dialog>
  )
}
