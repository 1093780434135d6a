import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

/** A page that asked anything of another server would be stopped here. */
const policy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export interface SiteServer {
  readonly url: string
  close(): Promise<void>
}

/** Serves a built site to this machine. Port 0 picks a free one. */
export async function serveSite(folder: string, port = 0): Promise<SiteServer> {
  const root = path.resolve(folder)
  const server = createServer((request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return void answer(response, 405, '.txt', '')
    void sendFile(root, request.url ?? '/', response)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${taken}/`,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function sendFile(root: string, url: string, response: ServerResponse): Promise<void> {
  const file = fileOf(root, url)
  const content = file && (await readFile(file).catch(() => undefined))
  if (file && content) return answer(response, 200, path.extname(file), content)
  answer(response, 404, '.txt', `There is no page at ${url}. All pages are listed at /\n`)
}

/** The file that an address names; none outside of the folder. */
function fileOf(root: string, url: string): string | undefined {
  try {
    const { pathname } = new URL(url, 'http://127.0.0.1')
    const file = path.join(root, decodeURIComponent(pathname.endsWith('/') ? `${pathname}index.html` : pathname))
    return file.startsWith(`${root}${path.sep}`) && !file.includes('\0') ? file : undefined
  } catch {
    // What is no address, or is not encoded rightly, names nothing.
    return undefined
  }
}

function answer(response: ServerResponse, status: number, extension: string, content: string | Buffer): void {
  response.writeHead(status, {
    'content-type': mediaTypes[extension] ?? 'application/octet-stream',
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache',
  })
  response.end(content)
}
