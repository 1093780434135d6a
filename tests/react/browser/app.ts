import { createElement, type ReactElement, StrictMode, useState } from 'react'
import type { Client, ThreadSnapshot } from '../../../src/client/index.ts'
import { HoldfastProvider, useConnection, useTasks, useThread } from '../../../src/react/index.ts'

export interface AppProps {
  readonly client: Client
  /** The thread as the server has rendered it. */
  readonly initial?: ThreadSnapshot | undefined
}

/** Two views of one thread and a list of tasks, which can be left and come back to. */
export function App({ client, initial }: AppProps): ReactElement {
  const [isHere, setHere] = useState(true)
  const toggle = () => setHere((was) => !was)
  const views = ['one', 'two'].map((name) => createElement(View, { key: name, name, initial }))
  return createElement(
    StrictMode,
    null,
    createElement('button', { type: 'button', id: 'toggle', onClick: toggle }, 'Leave or come back'),
    createElement(HoldfastProvider, { client }, isHere ? [...views, createElement(List, { key: 'list' })] : []),
  )
}

function View({ name, initial }: { readonly name: string; readonly initial: ThreadSnapshot | undefined }) {
  const { live, status, messages, stop } = useThread('t', { agent: 'script', initial })
  const said = [...live.values()].flat().map((part) => ('text' in part ? part.text : ''))
  return createElement(
    'section',
    { id: name },
    createElement('h2', null, status),
    createElement('p', null, said.join('')),
    createElement('output', null, messages.length),
    createElement('button', { type: 'button', onClick: () => void stop() }, 'Stop'),
  )
}

function List() {
  const { tasks } = useTasks()
  const { state } = useConnection()
  const rows = tasks.map(({ id, status }) => createElement('li', { key: id }, `${id} ${status}`))
  return createElement('ul', { title: state }, rows)
}
