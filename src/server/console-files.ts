import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { gzipSync } from 'node:zlib'

export interface ConsoleFile {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The same, compressed; made when it is first asked for. */
  gzipped(): Uint8Array<ArrayBuffer>
  readonly mediaType: string
  readonly etag: string
  /** Its name changes with its content. */
  readonly isHashed: boolean
}

/** By path, relative to the console, without a slash at its beginning. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** Beside what was compiled; and in a clone, where the sources run as they are, where the build puts it. */
const folders = ['../console/', '../../dist/console/'].map((path) => new URL(path, import.meta.url))

/**
 * The console as it was built, all of it in memory: a page and the files that it names stay together, whatever a later build
 * does to the folder. Undefined if it was not built.
 */
export function readConsole(): ConsoleFiles | undefined {
  for (const folder of folders) {
    const files = readFolder(folder)
    if (files.has('index.html')) return files
  }
  return undefined
}

function readFolder(folder: URL): ConsoleFiles {
  const files = new Map<string, ConsoleFile>()
  for (const path of pathsIn(folder)) {
    const mediaType = mediaTypes[extname(path)]
    if (mediaType !== undefined) files.set(path, consoleFile(path, mediaType, readFileSync(new URL(path, folder))))
  }
  return files
}

function pathsIn(folder: URL): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'))
  } catch {
    // There is no such folder: nothing was built there.
    return []
  }
}

function consoleFile(path: string, mediaType: string, content: Buffer): ConsoleFile {
  let gzipped: Uint8Array<ArrayBuffer> | undefined
  return {
    bytes: Uint8Array.from(content),
    gzipped() {
      gzipped ??= Uint8Array.from(gzipSync(content))
      return gzipped
    },
    mediaType,
    etag: `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`,
    isHashed: path.startsWith('assets/'),
  }
}
