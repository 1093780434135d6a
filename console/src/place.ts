/**
 * Where the console is, told by the page's base: the server may be mounted under any path. Read once at the start, before
 * a view changes the address.
 */
const base = new URL('.', document.baseURI)

/** The path under which all views are, without a slash at its end. */
export const consolePath = base.pathname.replace(/\/$/, '')

/** Where the API is, without a slash at its end. */
export const apiUrl = new URL('..', base).href.replace(/\/$/, '')

/** The address of a view for somebody else. */
export function linkTo(path: string): string {
  return `${base.origin}${consolePath}${path}`
}

export function taskPath(id: string): string {
  return `/tasks/${encodeURIComponent(id)}`
}

export function agentPath(name: string): string {
  return `/agents/${encodeURIComponent(name)}`
}

export function threadPath(thread: string): string {
  return `/threads/${encodeURIComponent(thread)}`
}
