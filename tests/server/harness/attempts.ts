/** What came of each way in which a page can reach a server. */
export interface Attempts {
  /** A read that the browser lets the page see only if the server says so. */
  readonly read: string
  /** A read without asking to see the answer. */
  readonly blindRead: string
  readonly post: string
  /** A post that a form could send as well, and that no browser asks permission for. */
  readonly blindPost: string
  readonly stream: string
  readonly socket: string
  /** With the token in the header, or beside the subprotocol, as a page would that knows it. */
  readonly readWithToken: string
  readonly socketWithToken: string
}

export interface Target {
  readonly url: string
  readonly thread: string
  readonly token: string
}

/** Tries everything, with the cookie if there is one. It runs in a page, so it uses nothing from around it. */
export async function attempt({ url, thread, token }: Target): Promise<Attempts> {
  const answered = (request: Promise<Response>) =>
    request.then(
      ({ type, status }) => (type === 'opaque' ? 'opaque' : String(status)),
      () => 'blocked',
    )
  const opened = (source: EventSource | WebSocket) =>
    new Promise<string>((resolve) => {
      const settle = (outcome: string) => () => {
        resolve(outcome)
        source.close()
      }
      source.addEventListener('open', settle('open'))
      source.addEventListener('error', settle('refused'))
    })
  const cookie = { credentials: 'include' } as const
  const events = `${url}/v1/threads/${thread}/events`
  const runs = `${url}/v1/threads/${thread}/runs`
  const body = JSON.stringify({ agent: 'script', prompt: 'from the page' })
  const json = { 'content-type': 'application/json' }
  const ws = `${url.replace('http', 'ws')}/v1/ws`
  const bearer = `bearer.${btoa(token).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`
  return {
    read: await answered(fetch(events, cookie)),
    blindRead: await answered(fetch(events, { ...cookie, mode: 'no-cors' })),
    post: await answered(fetch(runs, { ...cookie, method: 'POST', headers: json, body })),
    blindPost: await answered(fetch(runs, { ...cookie, method: 'POST', mode: 'no-cors', body })),
    stream: await opened(new EventSource(events, { withCredentials: true })),
    socket: await opened(new WebSocket(ws, 'holdfast.v1')),
    readWithToken: await answered(fetch(events, { headers: { authorization: `Bearer ${token}` } })),
    socketWithToken: await opened(new WebSocket(ws, ['holdfast.v1', bearer])),
  }
}
