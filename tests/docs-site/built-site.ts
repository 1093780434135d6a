import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { buildSite } from '../../site/build.ts'
import type { Page } from '../../site/page.ts'
import { OwnedProcess } from '../server/harness/owned-process.ts'

/** Reading the sources as the compiler does takes seconds, and longer where much else is run. */
export const buildMs = 300_000

export interface BuiltSite {
  readonly folder: string
  /** Those of the navigation, in their order. */
  readonly pages: readonly Page[]
  read(place: string): string
}

/** Registers a site for the tests of a file, built once. */
export function withSite(): () => BuiltSite {
  const folder = ownFolder()
  let site: BuiltSite | undefined
  beforeAll(async () => {
    const pages = await buildSite(folder)
    site = { folder, pages, read: (place) => readFileSync(join(folder, place), 'utf8') }
  }, buildMs)
  return () => there(site)
}

export interface ServedSite {
  readonly folder: string
  readonly url: string
}

/** Registers a site for the tests of a file as `npm run docs` builds and serves it. */
export function withServedSite(): () => ServedSite {
  const folder = ownFolder()
  let command: OwnedProcess | undefined
  let site: ServedSite | undefined
  beforeAll(async () => {
    command = new OwnedProcess({ arguments: ['site/main.ts', '--out', folder], env: {} })
    const [url] = await command.line(/http:\/\/\S+/)
    site = { folder, url }
  }, buildMs)
  afterAll(() => command?.end('SIGINT'))
  return () => there(site)
}

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-docs-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function there<Site>(site: Site | undefined): Site {
  if (!site) throw new Error('There is no site before the first test')
  return site
}
