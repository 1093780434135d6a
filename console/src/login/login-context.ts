import { createContext, useContext } from 'react'

export interface Login {
  /** Shows the form again: the login of this browser is over. */
  readonly askAgain: () => void
  readonly logOut: () => void
}

export const LoginContext = createContext<Login>({ askAgain() {}, logOut() {} })

export function useLogin(): Login {
  return useContext(LoginContext)
}
