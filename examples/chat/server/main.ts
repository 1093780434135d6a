// The whole server: the page, a login, and Holdfast under /holdfast.
import { serve } from '@hono/node-server'
import { serveStatic } from '@hono/node-server/serve-static'
import { createHandler, createRuntime } from 'holdfast'
import { Hono } from 'hono'
import { helper } from './agent.ts'
import { cookieFor, forgetting, userOf } from './login.ts'

const { PORT = '3000', STORE = 'sqlite:./chat.db' } = process.env

const runtime = createRuntime({ store: STORE, agents: { helper } })

// The app knows who is asking; Holdfast keeps the threads of each user apart.
const holdfast = createHandler(runtime, { basePath: '/holdfast', authenticate: userOf })

const app = new Hono()
app.all('/holdfast/*', (c) => holdfast(c.req.raw))

app.get('/me', (c) => c.json({ user: userOf(c.req.raw) ?? null }))

app.post('/login', async (c) => {
  const { user, password } = await c.req.json<{ user: string; password: string }>()
  const cookie = cookieFor(user, password)
  if (cookie === undefined) return c.json({ user: null }, 401)
  c.header('Set-Cookie', cookie)
  return c.json({ user })
})

app.post('/logout', (c) => {
  c.header('Set-Cookie', forgetting)
  return c.json({ user: null })
})

app.use('*', serveStatic({ root: './dist' }))

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(PORT) }, ({ port }) => {
  console.log(`Chat on http://127.0.0.1:${port} (alice / wonderland, bob / builder)`)
})

// Runs that are at work are handed over to the next start.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close()
    void runtime.close().then(() => process.exit(0))
  })
}
