import { type Client, isHoldfastError } from 'holdfast/client'
import { useClient } from 'holdfast/react'
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react'
import { messageOf } from '../design/error-state.tsx'
import { forgetTexts } from '../kept-text.ts'
import { consolePath, threadPath } from '../place.ts'
import { LoginContext } from './login-context.ts'
import { LoginForm } from './login-form.tsx'

type Standing = 'unknown' | 'in' | 'out'

/** Shows the console to whoever is logged in, and the form to everybody else. */
export function LoginGate({ children }: { readonly children: ReactNode }) {
  const client = useClient()
  const [standing, setStanding] = useState<Standing>('unknown')
  const [refusal, setRefusal] = useState<string>()
  useEffect(() => {
    void enter(client).then((entered) => {
      setStanding(entered.isIn ? 'in' : 'out')
      setRefusal(entered.refusal)
    })
  }, [client])
  useEffect(() => {
    addEventListener('hashchange', heedLink)
    return () => removeEventListener('hashchange', heedLink)
  }, [])
  const askAgain = useCallback(() => setStanding('out'), [])
  const login = useMemo(
    () => ({
      askAgain,
      logOut: () => {
        forgetTexts()
        void client.logout().finally(() => location.reload())
      },
    }),
    [client, askAgain],
  )
  if (standing === 'unknown') return null
  if (standing === 'out') return <LoginForm {...(refusal !== undefined && { refusal })} />
  return <LoginContext value={login}>{children}</LoginContext>
}

interface Entered {
  readonly isIn: boolean
  readonly refusal?: string
}

let entering: Promise<Entered> | undefined

/** Once for the page: the code of a login link is good for one use. */
function enter(client: Client): Promise<Entered> {
  entering ??= entered(client)
  return entering
}

async function entered(client: Client): Promise<Entered> {
  const code = takeCode()
  const refusal = code === undefined ? undefined : await refusalOf(client, code)
  try {
    await client.limits()
    if (code !== undefined) await goToLiveRun(client)
    return { isIn: true }
  } catch (error) {
    // Anything else is told by the views, which also notice when it has passed.
    if (!isHoldfastError(error, 'unauthenticated')) return { isIn: true }
    return { isIn: false, ...(refusal !== undefined && { refusal }) }
  }
}

/** Whoever comes by a login link, and to no view in particular, comes to the thread in which something runs. */
async function goToLiveRun(client: Client): Promise<void> {
  if (location.pathname.replace(/\/$/, '') !== consolePath) return
  const { tasks } = await client.list({ type: 'run', status: ['running'], limit: 1 })
  if (tasks[0]) history.replaceState(history.state, '', `${consolePath}${threadPath(tasks[0].thread)}`)
}

const loginLink = /^#login=(.+)$/

/** A login link that is opened where the console is already shown does not load the page. */
function heedLink(): void {
  if (loginLink.test(location.hash)) location.reload()
}

/** The code of a login link. It goes from the address at once, so that it is not sent on with it. */
function takeCode(): string | undefined {
  const code = loginLink.exec(location.hash)?.[1]
  if (code === undefined) return undefined
  history.replaceState(history.state, '', `${location.pathname}${location.search}`)
  try {
    return decodeURIComponent(code)
  } catch {
    // Whatever it is, the server does not know it.
    return code
  }
}

async function refusalOf(client: Client, code: string): Promise<string | undefined> {
  try {
    await client.login({ code })
    return undefined
  } catch (error) {
    if (!isHoldfastError(error, 'unauthenticated')) return messageOf(error)
    return 'That login link was used, or is older than 10 minutes. Start the server again for a new one, or give its token.'
  }
}
