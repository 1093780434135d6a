/** What a piece of code is, which is also the class it is coloured by. */
export type Kind = 'comment' | 'string' | 'keyword' | 'number' | 'type' | 'call' | 'flag' | 'variable' | 'plain'

/** The first that matches at a place counts. Each is sticky, so that nothing is matched in the middle of a word. */
export type Language = readonly (readonly [Kind, RegExp])[]

const doubleQuoted = /"(?:\\.|[^"\\])*"/y
const singleQuoted = /'(?:\\.|[^'\\\n])*'/y
const number = /\b\d[\d_]*(?:\.\d+)?\b/y
const word = /[\w$]+/y

const keywords =
  'abstract|as|asserts|async|await|break|case|catch|class|const|continue|default|delete|do|else|export|extends|false|finally|for|from|function|get|if|implements|import|in|infer|instanceof|interface|is|keyof|let|new|null|of|private|readonly|return|satisfies|set|static|super|switch|this|throw|true|try|type|typeof|undefined|using|while|yield'
const typeKeywords = 'any|bigint|boolean|never|number|object|string|symbol|unknown|void'
const sqlKeywords =
  'and|as|asc|begin|by|commit|create|delete|desc|from|grant|group|in|index|insert|into|limit|not|null|on|or|order|schema|select|set|table|to|update|values|where|with'

const typescript: Language = [
  ['comment', /\/\/[^\n]*|\/\*[\s\S]*?\*\//y],
  ['string', /"(?:\\.|[^"\\\n])*"/y],
  ['string', singleQuoted],
  ['string', /`(?:\\.|[^`\\])*`/y],
  ['plain', /\.[\w$]+\b(?![(<])/y],
  [
    'keyword',
    new RegExp(`(?:${keywords})\\b(?!\\s*[(:?])|(?:await|if|for|while|switch|catch|import)\\b(?=\\s*\\()`, 'y'),
  ],
  ['type', new RegExp(`(?:${typeKeywords})\\b(?!\\??:)|[A-Z][\\w$]*\\b`, 'y')],
  ['number', number],
  ['call', /[a-z_$][\w$]*(?=[(<])/y],
  ['plain', word],
]

const shell: Language = [
  ['comment', /(?<=^|\s)#[^\n]*/my],
  ['string', doubleQuoted],
  ['string', singleQuoted],
  ['variable', /\$\{[^}]*\}|\$\w+|[A-Z_]{2,}(?==)/y],
  ['flag', /(?<=\s)--?[A-Za-z][\w-]*/y],
  ['call', /(?<=^|[|&;(]\s*)(?:[a-z][\w./-]*)(?=\s|$)/my],
  ['plain', /[\w./:@%+-]+/y],
]

const json: Language = [
  ['variable', /"(?:\\.|[^"\\])*"(?=\s*:)/y],
  ['string', doubleQuoted],
  ['keyword', /\b(?:true|false|null)\b/y],
  ['number', number],
]

const settings: Language = [
  ['comment', /(?<=^|\s)#[^\n]*/my],
  ['variable', /(?<=^|[\s-])[\w.$-]+(?=[:=])/my],
  ['string', doubleQuoted],
  ['string', singleQuoted],
  ['number', number],
  ['plain', word],
]

const sql: Language = [
  ['comment', /--[^\n]*/y],
  ['string', singleQuoted],
  ['keyword', new RegExp(`(?:${sqlKeywords})\\b`, 'iy')],
  ['number', number],
  ['plain', word],
]

const languages: Readonly<Record<string, Language>> = {
  ts: typescript,
  tsx: typescript,
  js: typescript,
  json,
  sh: shell,
  sql,
  yaml: settings,
  service: settings,
  conf: settings,
}

/** Nothing is coloured in a language that is not known. */
export function languageOf(name: string): Language {
  return languages[name] ?? []
}
