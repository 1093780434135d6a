import { HoldfastError } from '../core/errors.ts'
import type { AppContext } from './app-env.ts'
import { type ConsoleFile, type ConsoleFiles, readConsole } from './console-files.ts'
import type { Site } from './route.ts'

/**
 * Files of its own server and nothing else: no script and no style in the page itself, nothing evaluated, no other host, and
 * no frame around it.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  // A picture that is in a message itself is shown; none is loaded from anywhere.
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const pageHeaders = {
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
}

// A year, the longest that is taken for an answer; a changed file has another name.
const hashedCaching = 'public, max-age=31536000, immutable'
// The page names the files, so that a new build is seen at the next load.
const namedCaching = 'no-cache'

const notBuilt = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Holdfast</title></head>
<body><h1>The console is not built</h1><p>Build it with <code>npm run build:console</code>, then reload this page. The API and the command line work without it.</p></body></html>
`

/** Whether a path is one of the console's, which anybody may ask for: there is nothing in it but the program. */
export function isConsolePath(path: string, basePath: string): boolean {
  return path === `${basePath}/console` || path.startsWith(`${basePath}/console/`)
}

/** Where a browser that asks for the server itself is led. Relative, as the folder of the console is; undefined for all else. */
export function leadToConsole(c: AppContext, basePath: string): Response | undefined {
  const isPage = c.req.method === 'GET' && /\btext\/html\b/.test(c.req.header('accept') ?? '')
  if (!isPage || c.req.path !== `${basePath}/`) return undefined
  return new Response(null, { status: 302, headers: { ...c.get('headers'), location: './console' } })
}

interface Where extends Pick<Site, 'app'> {
  readonly parts: Pick<Site['parts'], 'basePath'>
}

/** The console as static files. What is not a file is an address inside it, and gets the page. */
export function consoleRoutes({ app, parts: { basePath } }: Where, read = readConsole): void {
  let files: ConsoleFiles | undefined
  const answer = (c: AppContext): Response => {
    files ??= read()
    if (!files) return page(c, notBuilt, 404)
    const rest = c.req.path.slice(`${basePath}/console`.length)
    const path = rest.slice(1)
    const file = path === 'index.html' ? undefined : files.get(path)
    if (file) return fileAnswer(c, file)
    if (path.startsWith('assets/')) throw new HoldfastError('not_found', 'There is no such path')
    const html = new TextDecoder().decode(files.get('index.html')?.bytes)
    return page(c, html.replace('<base href="./"', `<base href="${baseOf(rest)}"`), 200)
  }
  app.get('/console', answer)
  app.get('/console/*', answer)
}

/**
 * The folder of the console, relative to the address that was asked for. Relative, because whoever stands before this server
 * may know it under another path.
 */
function baseOf(rest: string): string {
  const depth = rest.split('/').length - 1
  if (depth === 0) return './console/'
  return depth === 1 ? './' : '../'.repeat(depth - 1)
}

function page(c: AppContext, html: string, status: number): Response {
  const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': namedCaching }
  return new Response(html, { status, headers: { ...c.get('headers'), ...pageHeaders, ...headers } })
}

function fileAnswer(c: AppContext, { bytes, gzipped, mediaType, etag, isHashed }: ConsoleFile): Response {
  const headers = {
    ...c.get('headers'),
    ...pageHeaders,
    etag,
    'cache-control': isHashed ? hashedCaching : namedCaching,
    vary: 'accept-encoding',
  }
  if (c.req.header('if-none-match') === etag) return new Response(null, { status: 304, headers })
  const isGzipped = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')
  const encoding = isGzipped && { 'content-encoding': 'gzip' }
  return new Response(isGzipped ? gzipped() : bytes, {
    headers: { ...headers, 'content-type': mediaType, ...encoding },
  })
}
