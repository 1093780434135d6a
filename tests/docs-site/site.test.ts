import { globSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readEntryPoints } from '../../site/api/entry-points.ts'
import type { EntryPoint } from '../../site/api/model.ts'
import { readOpenApi } from '../../site/http/document.ts'
import { type Example, exampleOf } from '../../site/http/examples.ts'
import { createHandler, createRuntime, echoAgent } from '../../src/index.ts'
import { type BuiltSite, buildMs, withSite } from './built-site.ts'

describe('the site', () => {
  const site = withSite()
  let entryPoints: readonly EntryPoint[] = []
  beforeAll(() => {
    entryPoints = readEntryPoints()
  }, buildMs)

  it('has every page of the documentation', () => {
    const sources = globSync(['*.md', 'docs/**/*.md']).sort()
    const shown = new Set(site().pages.map(({ source }) => source))
    expect(sources.length).toBeGreaterThan(40)
    expect(sources.filter((source) => !shown.has(source))).toEqual([])
  })

  it('links only to pages and headings that exist', () => {
    const places = globSync('**/*.html', { cwd: site().folder })
    const ids = new Map(places.map((place) => [place, idsOf(site().read(place))]))
    const broken = places.flatMap((place) =>
      linksOf(site().read(place)).flatMap(({ target, anchor }) => {
        const to = target === '' ? place : posix.join(posix.dirname(place), target)
        const isThere = anchor === undefined ? isFile(site(), to) : ids.get(to)?.has(anchor)
        return isThere ? [] : [`${place}: ${target}${anchor === undefined ? '' : `#${anchor}`}`]
      }),
    )
    expect(broken).toEqual([])
  })

  it('gives no id twice on a page', () => {
    const twice = globSync('**/*.html', { cwd: site().folder }).flatMap((place) => {
      const ids = allIds(site().read(place))
      return ids.filter((id, n) => ids.indexOf(id) !== n).map((id) => `${place}: ${id}`)
    })
    expect(twice).toEqual([])
  })

  it('loads nothing from elsewhere, and nothing by a path from the root', () => {
    for (const place of globSync('**/*.{html,css}', { cwd: site().folder })) {
      const text = site().read(place)
      const loaded = [...text.matchAll(/<(?!a )[^>]*?\s(?:src|srcset|href)="([^"]*)"|url\(([^)]*)\)|@import ([^;]*)/g)]
      const outside = loaded
        .map(([, one, two, three]) => one ?? two ?? three ?? '')
        .filter((to) => /^(\w+:|\/)/.test(to))
      expect(outside, place).toEqual([])
      expect(/<a [^>]*href="\//.test(text), `${place} links from the root`).toBe(false)
    }
  })

  it('has every name of every entry point, with the line that declares it', () => {
    for (const { name, names } of entryPoints) {
      const text = site().read(`api/${posix.basename(name)}.html`)
      for (const { name: exported, declared } of names) {
        expect(text).toContain(`id="${exported}"`)
        expect(text).toContain(`href="../source/${declared.file}.html#L${declared.line}"`)
      }
    }
  })

  it('says of every name what it is', () => {
    const silent = entryPoints.flatMap(({ name, names }) =>
      names.filter(({ comment }) => comment === '').map((one) => `${one.declared.file}: ${one.name} of ${name}`),
    )
    expect(silent, 'Write a sentence for its user above each').toEqual([])
  })

  it('has every operation of the server, with an example', async () => {
    const text = site().read('http.html')
    for (const operation of Object.values((await readOpenApi()).paths).flatMap((methods) => Object.values(methods))) {
      expect(text).toContain(`id="${operation.operationId}"`)
    }
    expect(text.split('<h4>Example</h4>').length).toBeGreaterThan(20)
  })

  it('keeps the index of its search below a megabyte, beside the pages', () => {
    expect(statSync(join(site().folder, 'assets/search-index.js')).size).toBeLessThan(1_000_000)
    expect(site().read('index.html')).not.toContain('<script defer src="assets/search-index.js"')
  })
})

describe('the examples of the HTTP API', () => {
  it('are requests that a server takes', async () => {
    const runtime = createRuntime({ store: 'memory:', agents: { echo: echoAgent() } })
    try {
      const handler = createHandler(runtime, { tokens: { owner: 'secret' } })
      const refused: string[] = []
      const all = Object.entries((await readOpenApi()).paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ path, example: exampleOf(method, path, operation) })),
      )
      // Others ask about what is deleted.
      const deletions = all.filter(({ example }) => example.method === 'DELETE')
      for (const { path, example } of [...all.filter((one) => !deletions.includes(one)), ...deletions]) {
        const status = await ask(handler, example)
        // What it is about may have ended by then; the form must be right, and the reader let in by the token.
        const isRight = status < 400 || status === 404 || status === 409 || path === '/v1/login'
        if (!isRight) refused.push(`${example.method} ${path}: ${status}`)
      }
      expect(refused).toEqual([])
    } finally {
      await runtime.close()
    }
  })
})

async function ask(handler: ReturnType<typeof createHandler>, { method, path, headers, body }: Example) {
  const leaving = new AbortController()
  const answer = await handler(
    new Request(`http://127.0.0.1${path}`, {
      method,
      headers: JSON.parse(JSON.stringify(headers).replace('$TOKEN', 'secret')) as Record<string, string>,
      ...(body && { body: JSON.stringify(body) }),
      signal: leaving.signal,
    }),
  )
  await answer.body?.cancel()
  leaving.abort()
  return answer.status
}

function linksOf(text: string): { target: string; anchor?: string }[] {
  return [...text.matchAll(/(?:href|src|srcset)="([^"]*)"/g)].flatMap(([, href = '']) => {
    if (/^\w+:/.test(href)) return []
    const [target = '', anchor] = href.split('#')
    return [{ target, ...(anchor !== undefined && { anchor: decodeURIComponent(anchor) }) }]
  })
}

function allIds(text: string): string[] {
  return [...text.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)
}

function idsOf(text: string): ReadonlySet<string> {
  return new Set(allIds(text))
}

function isFile(site: BuiltSite, place: string): boolean {
  return statSync(join(site.folder, place), { throwIfNoEntry: false })?.isFile() ?? false
}
