import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import type { AppEnv } from '../../../src/server/app-env.ts'
import { consoleRoutes, isConsolePath } from '../../../src/server/console.ts'

describe('a console that is not built', () => {
  it('says on one plain page which command builds it, under the same policy', async () => {
    const app = new Hono<AppEnv>()
    consoleRoutes({ app, parts: { basePath: '' } }, () => undefined)
    for (const path of ['/console', '/console/', '/console/tasks/bg_0']) {
      const answer = await app.request(path)
      expect(answer.status).toBe(404)
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(await answer.text()).toContain('<code>npm run build:console</code>')
    }
  })
})

describe('a path of the console', () => {
  it.each([
    ['/console', '', true],
    ['/console/', '', true],
    ['/console/tasks', '', true],
    ['/consoles', '', false],
    ['/v1/console', '', false],
    ['/console', '/tools', false],
    ['/tools/console/x', '/tools', true],
  ])('%s under %j is one: %s', (path, basePath, is) => {
    expect(isConsolePath(path, basePath)).toBe(is)
  })
})
