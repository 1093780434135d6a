/** Lets whoever comes to a field go on with what is written in it. The platform would put the caret before it. */
export function caretAtEnd(field: HTMLTextAreaElement | null): void {
  field?.setSelectionRange(field.value.length, field.value.length)
}
