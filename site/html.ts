/** Text that is HTML already. */
export interface Html {
  readonly html: string
}

export type Content = string | number | Html | undefined | false | readonly Content[]

/** HTML from a template: what is put into it is text unless it says that it is HTML. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  return raw(String.raw({ raw: parts }, ...values.map(written)))
}

/** For HTML that came from elsewhere, such as the reader of Markdown. */
export function raw(text: string): Html {
  return { html: text }
}

/** Text as it may stand in an element or in an attribute. */
export function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

function written(value: Content): string {
  if (value === undefined || value === false) return ''
  if (typeof value === 'string') return escapeText(value)
  if (typeof value === 'number') return String(value)
  if ('html' in value) return value.html
  return value.map(written).join('')
}
