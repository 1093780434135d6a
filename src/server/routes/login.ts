import { HoldfastError } from '../../core/errors.ts'
import { loggedIn } from '../../protocol/schemas/answers.ts'
import { emptyBody, loginBody } from '../../protocol/schemas/bodies.ts'
import type { AppContext } from '../app-env.ts'
import { json, route, type Site } from '../route.ts'

/** Cookies for browsers, which cannot send a token with everything. */
export function loginRoutes(site: Site): void {
  const { authentication, guard } = site.parts
  const isSecure = (c: AppContext) => guard.isSecure(c.req.raw.headers, c.req.url.startsWith('https:'))
  const headers = { 'Set-Cookie': 'HttpOnly; SameSite=Strict' }
  route(
    site,
    {
      method: 'post',
      path: '/v1/login',
      summary: 'Log a browser in by a token, or once by the code of a login link',
      body: loginBody,
      isOpen: true,
      answers: [{ status: 200, description: 'Who it is logged in as', schema: loggedIn, headers }],
      problems: ['unauthenticated'],
    },
    ({ c, body: { token, code } }) => {
      const credential = token === undefined ? { code: code ?? '' } : { token }
      const login = authentication.login(credential, { isSecure: isSecure(c) })
      if (!login) throw new HoldfastError('unauthenticated', 'The token is wrong, or the code was used or is over')
      return json(c, 200, { principal: login.principal }, { 'set-cookie': login.cookie })
    },
  )
  route(
    site,
    {
      method: 'post',
      path: '/v1/logout',
      summary: 'Make a browser forget who it was logged in as',
      body: emptyBody,
      answers: [{ status: 204, description: 'The cookie is gone', headers }],
    },
    ({ c }) => {
      const cookie = authentication.logoutCookie({ isSecure: isSecure(c) })
      return new Response(null, { status: 204, headers: { ...c.get('headers'), 'set-cookie': cookie } })
    },
  )
}
