import { type RefObject, useEffect, useRef } from 'react'

/** Gives the focus to the row at which the keys are, or to the list where that row is not on the page. */
export function focusList(list: HTMLElement | null): void {
  const row = list?.querySelector<HTMLElement>('[data-task][tabindex="0"]')
  ;(row ?? list)?.focus({ preventScroll: true })
}

/** A dialog puts the focus back to what opened it; where that is gone by then, the list has it. */
export function useFocusAfter(isDialogOpen: boolean, listRef: RefObject<HTMLElement | null>): void {
  const wasOpen = useRef(isDialogOpen)
  useEffect(() => {
    if (wasOpen.current && !isDialogOpen && document.activeElement === document.body) focusList(listRef.current)
    wasOpen.current = isDialogOpen
  }, [isDialogOpen, listRef])
}
