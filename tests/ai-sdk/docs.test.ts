import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { printedBy, programsIn } from '../docs-program.ts'
import { turns } from '../model-server/script.ts'
import { modelServer } from './with-model.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/agents.md'), 'utf8')
const [section = ''] = page.slice(page.indexOf('## AI SDK')).split(/\n## (?!AI SDK)/)

describe('the page on agents', () => {
  it('has programs for the AI SDK that run', async () => {
    const server = await modelServer(
      turns({ calls: [{ name: 'weather', input: { city: 'Oslo' } }] }, { text: ['Yes, ', 'it rains.'] }),
    )
    const [first = '', tool = '', background = '', ...rest] = programsIn(section)
    expect(rest).toEqual([])
    const env = { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'test' }
    expect(await printedBy(first, env)).toBe('Yes, it rains.\n Yes, it rains.\n')
    expect(server.requests[1]?.messages.at(-1)?.text).toBe('It rains in Oslo')
    expect(await printedBy(tool, env)).toBe('')
    server.script = turns({ text: 'Go to Rome.' })
    expect(await printedBy(background, env)).toBe('Go to Rome.\n')
    expect(server.requests.at(-1)?.tools).toContain('spawn_task')
  })
})
