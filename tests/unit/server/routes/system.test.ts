import { describe, expect, it } from 'vitest'
import { defaultLimits } from '../../../../src/core/limits.ts'
import { agentList, ready } from '../../../../src/protocol/schemas/answers.ts'
import { openSite, tokens } from '../site.ts'

describe('probes', () => {
  it('need no token, and say what is promised', async () => {
    const site = await openSite()
    expect(await site.ask('GET', '/healthz', { as: '' })).toMatchObject({ status: 200, body: { status: 'ok' } })
    const { status, body } = await site.ask('GET', '/readyz', { as: '' })
    expect(status).toBe(200)
    expect(ready.parse(body)).toMatchObject({ status: 'ready', store: 'memory', durable: false })
    expect(body['notice']).toMatch(/nothing is promised across a restart/)
  })

  it('are red while the store is down, and green when it is back', async () => {
    const site = await openSite()
    site.store.down()
    await site.ask('POST', '/v1/threads/t/runs', { body: { agent: 'echo', prompt: 'x' } })
    const red = await site.ask('GET', '/readyz', { as: '' })
    expect(red).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
    expect(red.headers.get('retry-after')).toBe('1')
    expect((await site.ask('GET', '/healthz', { as: '' })).status).toBe(200)
    site.store.up()
  })

  it('are red while the node drains, which takes no new work', async () => {
    const site = await openSite()
    const { body } = await site.ask('POST', '/v1/threads/t/runs', { body: { agent: 'held', prompt: 'x' } })
    const closing = site.runtime.close({ drainMs: 60_000 })
    const red = await site.ask('GET', '/readyz', { as: '' })
    expect(red).toMatchObject({ status: 503, body: { code: 'draining' } })
    expect(red.headers.get('retry-after')).toBe('1')
    const refused = await site.ask('POST', '/v1/threads/t/runs', { body: { agent: 'echo', prompt: 'x' } })
    expect(refused).toMatchObject({ status: 503, body: { code: 'draining' } })
    expect((await site.ask('GET', `/v1/tasks/${String(body['id'])}`)).status).toBe(200)
    await site.ask('POST', `/v1/tasks/${String(body['id'])}/cancel`)
    await closing
  })
})

describe('what the server is', () => {
  it('is told by its agents and limits', async () => {
    const site = await openSite({ limits: { treeDepth: 3 } })
    const agents = agentList.parse((await site.ask('GET', '/v1/agents')).body).agents
    expect(agents.map(({ name }) => name)).toEqual(['echo', 'script', 'held'])
    expect(agents[1]?.inputSchema).toBeDefined()
    expect(agents[1]).not.toHaveProperty('concurrency')
    expect((await site.ask('GET', '/v1/limits')).body).toEqual({ ...defaultLimits, treeDepth: 3 })
  })

  it('says how much of an agent executes at once where that is limited', async () => {
    const site = await openSite({ limits: { executingTasksPerAgent: 3 } })
    const { agents } = agentList.parse((await site.ask('GET', '/v1/agents')).body)
    expect(agents.map(({ concurrency }) => concurrency)).toEqual([3, 3, 3])
  })

  it('is counted as Prometheus text', async () => {
    const site = await openSite()
    const answer = await site.ask('GET', '/metrics')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    for (const name of [
      'commit_failures_total',
      'late_emits_total',
      'tasks_total',
      'queue_depth',
      'flush_seconds',
      'streams',
    ]) {
      expect(answer.text).toContain(`holdfast_${name}`)
    }
  })
})

describe('a browser', () => {
  it('logs in by a token, is known by its cookie, and logs out', async () => {
    const site = await openSite()
    const login = await site.ask('POST', '/v1/login', { as: '', body: { token: tokens.alice } })
    expect(login).toMatchObject({ status: 200, body: { principal: 'alice' } })
    const set = login.headers.get('set-cookie') ?? ''
    expect(set).toMatch(/HttpOnly/)
    expect(set).toMatch(/SameSite=Strict/)
    const cookie = set.split(';', 1)[0] ?? ''
    expect((await site.ask('GET', '/v1/tasks', { as: '', headers: { cookie } })).status).toBe(200)
    const logout = await site.ask('POST', '/v1/logout', { as: '', headers: { cookie } })
    expect(logout.status).toBe(204)
    expect(logout.headers.get('set-cookie')).toMatch(/Max-Age=0|Expires=Thu, 01 Jan 1970/)
    expect((await site.ask('POST', '/v1/logout', { as: '' })).status).toBe(401)
  })

  it('is refused with what is no credential, and the credential is in no log line', async () => {
    const site = await openSite()
    for (const body of [{ token: 'wrong-secret' }, { code: 'wrong-secret' }]) {
      expect(await site.ask('POST', '/v1/login', { as: '', body })).toMatchObject({
        status: 401,
        body: { code: 'unauthenticated' },
      })
    }
    expect((await site.ask('POST', '/v1/login', { as: '', body: {} })).status).toBe(400)
    await site.ask('POST', '/v1/login', { as: '', body: { token: tokens.alice } })
    expect(JSON.stringify(site.logged)).not.toMatch(/wrong-secret|alice-token/)
  })
})

describe('the log of requests', () => {
  it('has one line each, quiet for reads that went well', async () => {
    const site = await openSite()
    await site.ask('GET', '/v1/tasks?limit=3')
    await site.ask('GET', '/v1/tasks/bg_77')
    await site.ask('POST', '/v1/threads/t/runs', {
      body: { agent: 'echo', prompt: 'x' },
      headers: { 'x-request-id': 'r-1' },
    })
    await site.ask('GET', '/v1/tasks', { as: '' })
    const lines = site.logged.filter(({ message }) => message === 'request')
    expect(
      lines.map(({ level, facts }) => [level, facts['method'], facts['path'], facts['status'], facts['principal']]),
    ).toEqual([
      ['debug', 'GET', '/v1/tasks', 200, 'alice'],
      ['info', 'GET', '/v1/tasks/bg_77', 404, 'alice'],
      ['info', 'POST', '/v1/threads/t/runs', 202, 'alice'],
      ['info', 'GET', '/v1/tasks', 401, ''],
    ])
    expect(lines[2]?.facts['requestId']).toBe('r-1')
  })
})
