import { CloudOff, TriangleAlert } from 'lucide-react'
import { useLogin } from '../login/login-context.ts'
import { Button } from './button.tsx'
import { Empty } from './empty.tsx'
import { NotFound } from './not-found.tsx'

interface ErrorStateProps {
  readonly error: unknown
  /** What could not be shown, such as `task`. */
  readonly what: string
  readonly onRetry?: () => void
}

/** Something could not be shown: what, why, the request to name when asking for help, and what to do. */
export function ErrorState({ error, what, onRetry }: ErrorStateProps) {
  const { askAgain } = useLogin()
  const code = codeOf(error)
  if (code === 'not_found') return <NotFound what={what} />
  const requestId = requestIdOf(error)
  return (
    <div role="alert" className="flex flex-1 flex-col">
      <Empty icon={code === 'unreachable' ? CloudOff : TriangleAlert} title={titleOf(code, what)}>
        <p>{messageOf(error)}</p>
        {requestId !== undefined && <p className="font-mono text-xs text-ink-faint">Request {requestId}</p>}
        {code === 'unauthenticated' ? (
          <Button look="solid" onClick={askAgain}>
            Log in
          </Button>
        ) : (
          onRetry && <Button onClick={onRetry}>Try again</Button>
        )}
      </Empty>
    </div>
  )
}

/** What is shown is not how it is now: why, in one line above it, and what to do. */
export function StaleBar({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const { askAgain } = useLogin()
  const isOut = codeOf(error) === 'unauthenticated'
  const requestId = requestIdOf(error)
  return (
    <div
      role="alert"
      className="flex items-center gap-3 border-b border-line bg-warn-soft px-4 py-1.5 text-warn md:px-6"
    >
      <p className="min-w-0 flex-1 truncate">
        Not up to date: {messageOf(error)}
        {requestId !== undefined && <span className="ml-2 font-mono text-xs">Request {requestId}</span>}
      </p>
      <Button onClick={isOut ? askAgain : onRetry}>{isOut ? 'Log in' : 'Try again'}</Button>
    </div>
  )
}

/** Why nothing is heard: a browser that has no network knows that. */
export function unheardTitle(): string {
  return navigator.onLine ? 'The server does not answer' : 'You are offline'
}

function titleOf(code: unknown, what: string): string {
  if (code === 'unauthenticated') return 'You are not logged in'
  if (code === 'unreachable') return unheardTitle()
  return `The ${what} could not be shown`
}

interface Told {
  readonly code?: unknown
  readonly message?: unknown
  readonly requestId?: unknown
  readonly facts?: Readonly<Record<string, unknown>>
}

/** An error is thrown by a call, or it is a value of what is live; both tell the same. */
function told(error: unknown): Told {
  return typeof error === 'object' && error !== null ? error : { message: String(error) }
}

function codeOf(error: unknown): unknown {
  return told(error).code
}

export function messageOf(error: unknown): string {
  // What the server says of it is meant for programs.
  if (codeOf(error) === 'unauthenticated') return 'Your login is over. Log in again'
  return String(told(error).message)
}

/** The id of the request that was refused, by which it is found in the server's log. */
export function requestIdOf(error: unknown): string | undefined {
  const { requestId, facts } = told(error)
  const id = requestId ?? facts?.['requestId']
  return typeof id === 'string' ? id : undefined
}
