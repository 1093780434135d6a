import type { Token, Tokens } from 'marked'

/** What a reader sees of Markdown, without its marks. */
export function plainText(tokens: readonly Token[]): string {
  return tokens
    .map(textOf)
    .join('')
    .replaceAll(/[ \t]*\n\s*/g, '\n')
    .trim()
}

function textOf(token: Token): string {
  switch (token.type) {
    case 'space':
    case 'hr':
    case 'br':
    case 'def':
      return '\n'
    case 'html':
      return ''
    case 'code':
      return `${(token as Tokens.Code).text}\n`
    case 'table': {
      const { header, rows } = token as Tokens.Table
      return [header, ...rows].map((cells) => `${cells.map(({ tokens }) => plainText(tokens)).join(' · ')}\n`).join('')
    }
    case 'list':
      return (token as Tokens.List).items.map(({ tokens }) => `${plainText(tokens)}\n`).join('')
    default: {
      const { tokens, text = '' } = token as Tokens.Generic & { text?: string }
      const inner = tokens ? tokens.map(textOf).join('') : unescaped(text)
      return isBlock(token.type) ? `${inner}\n` : inner
    }
  }
}

function isBlock(type: string): boolean {
  return type === 'paragraph' || type === 'heading' || type === 'blockquote'
}

function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
