/** As one word of a shell, whatever is in it. */
export function shellWord(text: string): string {
  return /^[\w./:@%-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** The same for what is given to a command as an argument, and is no flag though it may look like one. */
export function shellArgument(text: string): string {
  return text.startsWith('-') ? `-- ${shellWord(text)}` : shellWord(text)
}
