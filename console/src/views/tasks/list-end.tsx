import { Button } from '../../design/button.tsx'
import type { Older } from './use-older-tasks.ts'

/** The end of the list: says whether there is more, and how far was looked. */
export function ListEnd({ older, foundCount }: { readonly older: Older; readonly foundCount: number }) {
  const { hasMore, isSearching, readCount, loadOn } = older
  if (!hasMore) return null
  return (
    <div className="flex items-center justify-center gap-3 p-4 text-xs text-ink-faint">
      {isSearching ? (
        <span role="status">Looking through older tasks…</span>
      ) : (
        <>
          {foundCount < readCount && `${foundCount} of ${readCount} tasks match`}
          <Button look="quiet" onClick={loadOn}>
            Load older tasks
          </Button>
        </>
      )}
    </div>
  )
}
