import { describe, expect, it } from 'vitest'
import { openSite } from './site.ts'

const page = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

describe('the address of the server itself', () => {
  it.each([
    ['', '/', './console'],
    ['/tools', '/tools/', './console'],
  ])('under %j leads a browser to the console, without credentials', async (basePath, path, location) => {
    const { ask } = await openSite({ basePath })
    const answer = await ask('GET', path, { as: '', headers: page })
    expect(answer.status).toBe(302)
    expect(answer.headers.get('location')).toBe(location)
    expect(answer.headers.get('x-request-id')).toBeTruthy()
  })

  it('is no path to anybody else, and to no other host', async () => {
    const { ask } = await openSite()
    expect((await ask('GET', '/', { as: '' })).status).toBe(401)
    expect((await ask('POST', '/', { as: '', headers: page })).status).toBe(401)
    expect((await ask('GET', '/', { as: 'alice' })).status).toBe(404)
    const rebound = await ask('GET', '/', { as: '', headers: { ...page, host: 'evil.example' } })
    expect(rebound).toMatchObject({ status: 403, body: { code: 'forbidden_origin' } })
  })
})

describe('the log', () => {
  it('says which origin and which host were refused, however long they are', async () => {
    const { ask, logged } = await openSite()
    await ask('GET', '/v1/tasks', { headers: { origin: 'https://app.example' } })
    await ask('GET', '/v1/tasks', { headers: { host: `${'x'.repeat(2_000)}.example` } })
    const refused = logged.filter(({ facts }) => facts['status'] === 403).map(({ facts }) => facts)
    expect(refused).toMatchObject([{ host: '127.0.0.1:4747', origin: 'https://app.example' }, {}])
    expect(refused[1]?.['host']).toBe('x'.repeat(500))
    expect(refused[1]).not.toHaveProperty('origin')
  })

  it('names neither where nothing was refused for it', async () => {
    const { ask, logged } = await openSite()
    await ask('POST', '/v1/threads/t/cancel', { body: {}, headers: { origin: 'http://127.0.0.1:4747' } })
    const [line] = logged.filter(({ message }) => message === 'request')
    expect(line?.facts).toMatchObject({ status: 200 })
    expect(line?.facts).not.toHaveProperty('origin')
  })
})
