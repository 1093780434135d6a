import { describe, expect, it } from 'vitest'
import { isLoopbackUrl } from '../../../src/runtime/agents/effect.ts'
import { readProgram } from '../../../src/runtime/agents/script-program.ts'

function problems(input: unknown, allowEffects = true): string[] {
  const read = readProgram(input, { allowEffects })
  return 'problems' in read ? read.problems : []
}

function problemsOf(...script: unknown[]): string[] {
  return problems({ script })
}

describe('a program', () => {
  it('may have every op with every field', () => {
    const script = [
      { say: '' },
      { think: 'x' },
      { progress: 0 },
      { progress: 1 },
      { emit: 'e', payload: null },
      { emit: 'e', payload: {}, times: 1, everyMs: 0 },
      { tool: 't', input: 1, output: 2, ms: 3 },
      { sleepMs: 0 },
      { step: 'k', sleepMs: 1, effect: 'http://127.0.0.1:1/x', value: null },
      { spawn: { script: [{ spawn: { script: [] } }], name: 'n', detached: true, wait: false } },
      { receive: {} },
      { receive: { timeoutMs: 0 } },
      { ask: { text: '?' } },
      { ask: { text: '?', options: ['a', 'b'], timeoutMs: 5, default: 'b' } },
      { ask: { text: '?', default: null } },
      { answer: null },
      { fail: '' },
      { return: null },
      { hang: true },
      { hang: 'hard' },
      { blockMs: 1 },
    ]
    expect(readProgram({ script }, { allowEffects: true })).toEqual({ program: script })
  })

  it.each([
    [undefined, 'input must be an object with "script"'],
    ['text', 'input must be an object with "script"'],
    [[], 'input must be an object with "script"'],
    [{}, 'input needs "script"'],
    [{ script: [], more: 1 }, 'input has the unknown field "more"'],
    [{ script: {} }, 'input.script must be a list of ops'],
    [{ script: ['say'] }, 'input.script[0] must be an object'],
    [{ script: [{}] }, 'input.script[0] is no op that is known here: it is empty'],
    [{ script: [{ say: 'x' }, { shout: 'x' }] }, 'input.script[1] is no op that is known here: "shout"'],
    [
      { script: [JSON.parse('{"__proto__": {"say": "x"}}')] },
      'input.script[0] is no op that is known here: "__proto__"',
    ],
    [{ script: [{ constructor: 1 }] }, 'input.script[0] is no op that is known here: "constructor"'],
  ])('is refused if the input is %j', (input, problem) => {
    expect(problems(input)).toEqual([problem])
  })

  it.each([
    [{ say: 1 }, 'say must be a text'],
    [{ think: null }, 'think must be a text'],
    [{ progress: 1.1 }, 'progress must be a number from 0 to 1'],
    [{ progress: '1' }, 'progress must be a number from 0 to 1'],
    [{ emit: '' }, 'emit must be a text of 1-200 characters'],
    [{ emit: 'e', times: 0 }, 'times must be a whole number from 1 on'],
    [{ emit: 'e', times: 1, everyMs: -1 }, 'everyMs must be a whole number of milliseconds from 0 to 2147483647'],
    [{ emit: 'e', times: 2, payload: 'x' }, 'payload must be an object, because it gains n'],
    [{ emit: 'e', times: 2, payload: [] }, 'payload must be an object, because it gains n'],
    [{ tool: 't'.repeat(201) }, 'tool must be a text of 1-200 characters'],
    [{ tool: 't', ms: 1.5 }, 'ms must be a whole number of milliseconds from 0 to 2147483647'],
    [{ sleepMs: 2 ** 31 }, 'sleepMs must be a whole number of milliseconds from 0 to 2147483647'],
    [{ step: 1 }, 'step must be a text of 1-200 characters'],
    [{ step: 'k', effect: 'http://example.com/' }, 'effect must be an http URL on loopback'],
    [{ step: 'k', effect: 1 }, 'effect must be an http URL on loopback'],
    [{ receive: true }, 'receive must be an object with known fields'],
    [{ ask: '?' }, 'ask must be an object with "text"'],
    [{ ask: {} }, 'ask needs "text"'],
    [{ ask: { text: '' } }, 'ask.text must be a text that says something'],
    [{ ask: { text: '?', key: 'k' } }, 'ask has the unknown field "key"'],
    [{ ask: { text: '?', options: [] } }, 'ask.options must be a list of one text or more'],
    [{ ask: { text: '?', options: ['a', 1] } }, 'ask.options must be a list of one text or more'],
    [{ ask: { text: '?', options: ['a'], default: 'b' } }, 'ask.default must be one of the options'],
    [{ receive: { timeoutMs: '1' } }, 'receive.timeoutMs must be a whole number of milliseconds from 0 to 2147483647'],
    [{ spawn: { script: 1 } }, 'spawn.script must be a list of ops'],
    [{ spawn: { script: [], wait: 1 } }, 'spawn.wait must be true or false'],
    [{ spawn: { script: [], name: 'a b' } }, 'spawn.name: A name is 1-64 characters of A-Za-z0-9_-'],
    [{ fail: {} }, 'fail must be a text'],
    [{ hang: 'soft' }, 'hang must be true or "hard"'],
    [{ blockMs: '1' }, 'blockMs must be a whole number of milliseconds from 0 to 2147483647'],
  ])('is refused if an op is %j', (op, problem) => {
    expect(problemsOf(op)).toEqual([`input.script[0].${problem}`])
  })

  it('is refused for a reserved name', () => {
    expect(problemsOf({ spawn: { script: [], name: 'self' } })[0]).toContain('spawn.name: The name self is reserved')
  })

  it('is refused for each unknown field and op, wherever it is', () => {
    const inner = { script: [{ say: 'x', loud: true }, { dance: 1 }], more: 1 }
    expect(problemsOf({ sleepMs: 1, ms: 2 }, { say: 'a', think: 'b' }, { spawn: inner })).toEqual([
      'input.script[0] has the unknown field "ms"',
      'input.script[1] has the unknown field "think"',
      'input.script[2].spawn has the unknown field "more"',
      'input.script[2].spawn.script[0] has the unknown field "loud"',
      'input.script[2].spawn.script[1] is no op that is known here: "dance"',
    ])
  })

  it('may neither reach out nor block where that is not allowed', () => {
    const script = [{ step: 'k', effect: 'http://127.0.0.1/' }, { spawn: { script: [{ blockMs: 1 }] } }, { step: 'k' }]
    expect(problems({ script }, false)).toEqual([
      'input.script[0].effect is not allowed here',
      'input.script[1].spawn.script[0].blockMs is not allowed here',
    ])
  })
})

describe('loopback', () => {
  it.each([
    'http://127.0.0.1:8080/x?y',
    'https://127.9.9.9',
    'http://localhost:1',
    'http://LOCALHOST/',
    'http://[::1]:99/',
    'http://0x7f.1/',
    'http://2130706433/',
  ])('is where %s leads', (url) => {
    expect(isLoopbackUrl(url)).toBe(true)
  })

  it.each([
    '',
    '127.0.0.1',
    '//127.0.0.1/',
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'http://example.com/',
    'http://127.0.0.1.example.com/',
    'http://127.0.0.1@example.com/',
    'http://user@127.0.0.1/',
    'http://127.0.0.1:80@10.0.0.1/',
    'http://localhost.example.com/',
    'http://notlocalhost/',
    'http://0.0.0.0/',
    'http://10.0.0.1/',
    'http://128.0.0.1/',
    'http://[::]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[fe80::1]/',
    'http://1127.0.0.1/',
  ])('is not where %j leads', (url) => {
    expect(isLoopbackUrl(url)).toBe(false)
  })
})
