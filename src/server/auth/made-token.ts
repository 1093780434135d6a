import { HoldfastError } from '../../core/errors.ts'
import { isLoopback } from '../host.ts'
import { makeStateFolder } from '../state-folder.ts'
import { keptToken } from './token-file.ts'

// The principal of the token that is made, as of HOLDFAST_TOKEN.
const madeFor = 'owner'

/**
 * The tokens of a server that was given none: the one of this machine, made if it is not there. Nobody elsewhere was given
 * it, so a server that others reach does not start on it.
 */
export function madeTokens(host: string, folder: string): Readonly<Record<string, string>> {
  if (!isLoopback(host)) {
    throw new HoldfastError(
      'invalid_request',
      `Others can reach ${host}. Configure a token (HOLDFAST_TOKEN, or tokens of serve), or listen on 127.0.0.1`,
    )
  }
  makeStateFolder(folder)
  return { [madeFor]: keptToken(folder) }
}

interface LoggingIn {
  readonly url: string
  newLoginCode(principal: string): string
}

/** The console, with a code that logs its owner in. It is a secret for as long as that is good: once, within 10 minutes. */
export function loginLink(server: LoggingIn): string {
  return `${server.url}/console#login=${server.newLoginCode(madeFor)}`
}

/** What a person is told who has to log in by a token that was made. */
export function loginLine(server: LoggingIn): string {
  return `Log in once, within 10 minutes: ${loginLink(server)}\n`
}
