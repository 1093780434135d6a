/** Gives the focus to the control at a place of the form, or to the first below it, once it is on the page. */
export function focusField(path: string): void {
  const id = CSS.escape(path)
  const below = `[id^=${JSON.stringify(`${path}.`)}]:is(input, textarea, select)`
  queueMicrotask(() => document.querySelector<HTMLElement>(`#${id}:not(fieldset), ${below}, #${id} button`)?.focus())
}
