import { useThreads } from 'holdfast/react'
import type { ReactElement } from 'react'

/** The threads of whoever is logged in; the server shows nobody those of others. */
export function Threads({ selected }: { readonly selected: string }): ReactElement {
  const { threads, hasMore, loadMore, isLoading } = useThreads()
  return (
    <section aria-label="Chats">
      <button type="button" className="new" onClick={() => location.assign('#')}>
        New chat
      </button>
      <ul>
        {threads.map(({ thread }) => (
          <li key={thread}>
            <a href={`#${encodeURIComponent(thread)}`} aria-current={thread === selected ? 'page' : undefined}>
              {titleOf(thread)}
            </a>
          </li>
        ))}
      </ul>
      {!isLoading && threads.length === 0 && <p className="hint">Nothing yet. Ask something.</p>}
      {hasMore && (
        <button type="button" className="quiet" onClick={() => void loadMore()}>
          Older
        </button>
      )}
    </section>
  )
}

/** A thread needs no creation, only an id: here the first words of what is asked, and something that no other has. */
export function newThread(prompt: string): string {
  const words = prompt.toLowerCase().match(/[a-z0-9]+/g) ?? ['chat']
  return `${words.slice(0, 6).join('-').slice(0, 60)}~${Date.now().toString(36)}`
}

export function titleOf(thread: string): string {
  return thread.replace(/~\w+$/, '').replaceAll('-', ' ')
}
