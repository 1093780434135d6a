/** What is asked of an agent: exactly one of the two. */
export type Ask = { readonly prompt: string } | { readonly input: unknown }

export interface SnippetRequest {
  readonly url: string
  readonly thread: string
  readonly agent: string
  readonly ask: Ask
}

export interface Snippet {
  readonly language: 'TypeScript' | 'curl' | 'CLI'
  readonly text: string
}

/** The same run, asked for in three ways. None holds a token: each reads it from where secrets are kept. */
export function snippetsOf(request: SnippetRequest): Snippet[] {
  return [
    { language: 'TypeScript', text: typeScript(request) },
    { language: 'curl', text: curl(request) },
    { language: 'CLI', text: commandLine(request) },
  ]
}

function typeScript({ url, thread, agent, ask }: SnippetRequest): string {
  const options = literal({ agent, ...ask }, 1)
  return [
    "import { createClient } from 'holdfast/client'",
    '',
    'const client = createClient({',
    `  url: ${quoted(url)},`,
    "  token: process.env.HOLDFAST_TOKEN ?? '',",
    '})',
    `const task = await client.run(${quoted(thread)}, ${options})`,
    'const { status, result } = await client.wait(task)',
    'console.log(status, result)',
    'client.close()',
  ].join('\n')
}

function curl({ url, thread, agent, ask }: SnippetRequest): string {
  return [
    `curl ${shell(`${url}/v1/threads/${encodeURIComponent(thread)}/runs`)} \\`,
    '  --header "Authorization: Bearer $HOLDFAST_TOKEN" \\',
    "  --header 'Content-Type: application/json' \\",
    `  --data ${shell(JSON.stringify({ agent, ...ask }))}`,
  ].join('\n')
}

function commandLine({ url, thread, agent, ask }: SnippetRequest): string {
  const asked = 'prompt' in ask ? shell(ask.prompt, '-- ') : `--input ${shell(JSON.stringify(ask.input ?? null))}`
  const flags = `--url ${shell(url)} --thread ${shell(thread)} --follow`
  return 'prompt' in ask ? `holdfast run ${agent} ${flags} ${asked}` : `holdfast run ${agent} ${asked} ${flags}`
}

// What fits beside the form without scrolling.
const shortMax = 44

/** A value as TypeScript writes it: JSON, but with names unquoted and texts in single quotes. */
function literal(value: unknown, depth: number): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const isList = Array.isArray(value)
  const items = isList
    ? value.map((item) => literal(item, depth + 1))
    : Object.entries(value).map(([name, item]) => `${nameOf(name)}: ${literal(item, depth + 1)}`)
  const [open, close] = isList ? ['[', ']'] : ['{ ', ' }']
  const short = `${open}${items.join(', ')}${close}`
  if (items.length === 0) return isList ? '[]' : '{}'
  if (depth > 1 && short.length <= shortMax && !short.includes('\n')) return short
  const indent = '  '.repeat(depth)
  const lines = items.map((item) => `${indent}${item},\n`).join('')
  return `${open.trim()}\n${lines}${'  '.repeat(depth - 1)}${close.trim()}`
}

function nameOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)
}

function quoted(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${inner}'`
}

/** One word of a shell, whatever is in it. A word that begins with a dash is told from a flag by what is put before it. */
function shell(text: string, beforeDash = ''): string {
  const word = /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
  return text.startsWith('-') ? `${beforeDash}${word}` : word
}
