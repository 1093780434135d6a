import { createSearch, type Search } from '../search/search.ts'
import { globalName, type SearchIndex } from '../search/search-index.ts'

let loading: Promise<Search> | undefined

/** The search over all pages. Its index is loaded when it is first wanted. */
export function loadSearch(): Promise<Search> {
  loading ??= load().catch((error: unknown) => {
    // The next try may go better.
    loading = undefined
    throw error
  })
  return loading
}

function load(): Promise<Search> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = document.querySelector<HTMLScriptElement>('script[data-index]')?.dataset['index'] ?? ''
    script.addEventListener('load', () => resolve(createSearch(indexOfPage())))
    script.addEventListener('error', () => reject(new Error('The index of the search was not loaded')))
    document.head.append(script)
  })
}

function indexOfPage(): SearchIndex {
  return (globalThis as unknown as Record<typeof globalName, SearchIndex>)[globalName]
}
