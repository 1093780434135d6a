import { describe, expect, it } from 'vitest'
import { openSite } from './site.ts'

const runs = '/v1/threads/t/runs'

function hasControlCharacters(text: string): boolean {
  return [...text].some((character) => character < ' ')
}

describe('a body', () => {
  it.each([
    ['no JSON', '{"agent":'],
    ['an empty text', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['a repeated key', '{"agent":"echo","prompt":"a","prompt":"b"}'],
    ['a repeated key deep inside', '{"agent":"echo","input":{"a":[{"b":1,"b":2}]}}'],
    ['a key named __proto__', '{"agent":"echo","input":{"__proto__":{"x":1}}}'],
    ['too much depth', `{"agent":"echo","input":${'['.repeat(64)}${']'.repeat(64)}}`],
    ['a number beyond numbers', '{"agent":"echo","input":1e999}'],
  ])('with %s is refused', async (_what, rawBody) => {
    const site = await openSite()
    const answer = await site.ask('POST', runs, { rawBody })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(answer.body['errors']).not.toEqual([])
    expect((await site.ask('GET', '/v1/tasks')).body).toEqual({ tasks: [] })
  })

  it('names each field that is not known', async () => {
    const site = await openSite()
    const { body } = await site.ask('POST', runs, { body: { agent: 'echo', prompt: 'x', a: 1, b: 2 } })
    expect(body['errors']).toEqual([
      { path: 'a', message: 'Unknown field' },
      { path: 'b', message: 'Unknown field' },
    ])
  })

  it('that is not UTF-8 is refused', async () => {
    const site = await openSite()
    const broken = Buffer.concat([
      Buffer.from('{"agent":"echo","prompt":"'),
      Buffer.from([0xff, 0xc0]),
      Buffer.from('"}'),
    ])
    const answer = await site.ask('POST', runs, { rawBody: new Uint8Array(broken) })
    expect(answer).toMatchObject({ status: 400, body: { detail: 'The body is not valid UTF-8' } })
  })

  it('is read in whatever pieces it comes', async () => {
    const site = await openSite()
    const bytes = new TextEncoder().encode(JSON.stringify({ agent: 'echo', prompt: 'grün — ✓' }))
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(new Uint8Array([byte]))
        controller.close()
      },
    })
    const answer = await site.ask('POST', runs, { rawBody: stream })
    expect(answer).toMatchObject({ status: 202, body: { description: 'grün — ✓' } })
  })

  it('that is larger than the limit is refused, and not read on', async () => {
    const site = await openSite({ limits: { bodyBytes: 1000 } })
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled += 1
          controller.enqueue(new Uint8Array(400))
        },
      },
      { highWaterMark: 0 },
    )
    expect(await site.ask('POST', runs, { rawBody: endless })).toMatchObject({
      status: 413,
      body: { code: 'too_large' },
    })
    expect(pulled).toBeLessThanOrEqual(4)
    const declared = { 'content-length': '1001' }
    expect((await site.ask('POST', runs, { rawBody: '{}', headers: declared })).status).toBe(413)
  })

  it('takes exactly the limit', async () => {
    const site = await openSite({ limits: { bodyBytes: 1000 } })
    const text = JSON.stringify({ agent: 'echo', prompt: '' })
    const fill = (length: number) => text.replace('""', `"${'x'.repeat(length - text.length)}"`)
    expect((await site.ask('POST', runs, { rawBody: fill(1000) })).status).toBe(202)
    expect((await site.ask('POST', runs, { rawBody: fill(1001) })).status).toBe(413)
  })

  it('that breaks off is refused', async () => {
    const site = await openSite()
    const broken = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error('ECONNRESET'))
      },
    })
    expect((await site.ask('POST', runs, { rawBody: broken })).status).toBe(400)
  })

  it.each(['text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded', 'x', '\u00e9'])(
    'is JSON whatever its type says, even %j',
    async (type) => {
      const site = await openSite()
      const headers = { 'content-type': type }
      expect((await site.ask('POST', runs, { body: { agent: 'echo', prompt: 'x' }, headers })).status).toBe(202)
    },
  )

  it('keeps what is hostile within its own text, in answers and in the log', async () => {
    const site = await openSite()
    const hostile = 'a\r\nb\u0000c\u2028d\u001b[31me'
    const accepted = await site.ask('POST', '/v1/threads/t/tasks', {
      body: { agent: 'held', prompt: hostile, description: hostile, metadata: { [hostile]: hostile } },
    })
    expect(accepted).toMatchObject({ status: 202, body: { description: hostile, metadata: { [hostile]: hostile } } })
    expect(hasControlCharacters(accepted.text)).toBe(false)
    const refused = await site.ask('POST', runs, { body: { agent: hostile, prompt: 'x', [hostile]: 1 } })
    expect(refused.status).toBe(400)
    expect(hasControlCharacters(refused.text)).toBe(false)
    const unknown = await site.ask('POST', runs, { body: { agent: hostile, prompt: 'x' } })
    expect(unknown).toMatchObject({ status: 422, body: { code: 'unknown_agent' } })
    expect(hasControlCharacters(unknown.text)).toBe(false)
  })
})
