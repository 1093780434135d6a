import { describe, expect, it } from 'vitest'
import { snippetsOf } from '../../../console/src/views/agents/snippets.ts'

function texts(ask: Parameters<typeof snippetsOf>[0]['ask']) {
  const request = { url: 'http://127.0.0.1:4747', thread: 'a:b', agent: 'helper', ask }
  const [typescript = '', curl = '', cli = ''] = snippetsOf(request).map(({ text }) => text)
  return { typescript, curl, cli }
}

describe('the snippets of a run', () => {
  it('hold the same request in three ways, and no token', () => {
    const { typescript, curl, cli } = texts({ prompt: "What's new?" })
    expect(typescript).toContain(`client.run('a:b', {\n  agent: 'helper',\n  prompt: 'What\\'s new?',\n})`)
    expect(curl).toContain('http://127.0.0.1:4747/v1/threads/a%3Ab/runs')
    expect(curl).toContain(`--data '{"agent":"helper","prompt":"What'\\''s new?"}'`)
    expect(cli).toBe(`holdfast run helper --url http://127.0.0.1:4747 --thread a:b --follow 'What'\\''s new?'`)
  })

  it('write an input as each of them does', () => {
    const { typescript, cli } = texts({ input: { topic: 'owls', 'odd name': [1, true] } })
    expect(typescript).toContain(`  input: { topic: 'owls', 'odd name': [1, true] },\n`)
    expect(cli).toContain(`--input '{"topic":"owls","odd name":[1,true]}'`)
  })

  it('tell a prompt from a flag', () => {
    expect(texts({ prompt: '--help' }).cli).toMatch(/ -- --help$/)
  })

  it('break a long input into lines', () => {
    const { typescript } = texts({ input: { topic: 'x'.repeat(70), more: 'y'.repeat(40) } })
    expect(typescript).toContain(`\n  input: {\n    topic: 'xxx`)
  })
})
