import { useMemo } from 'react'
import type { Task, TaskId } from '../client/index.ts'
import type { TaskValue } from '../client/live/task.ts'
import { useClient, useModels } from './provider.ts'
import { useLive } from './use-live.ts'

/** What is shown before the server is heard. */
export interface UseTaskOptions {
  /** The task as it was read before, maybe on a server. It goes on from there. */
  readonly initial?: Task | undefined
}

/** A task as it is now, and what can be done to it. */
export interface UseTaskResult extends TaskValue {
  /** Cancels it with its tree, or with `tree: false` alone. Resolves with what had not ended. */
  cancel(options?: { readonly tree?: boolean; readonly reason?: string }): Promise<readonly TaskId[]>
  /** To its inbox. Resolves with the id of the message. */
  send(content: unknown, options?: { readonly from?: string }): Promise<string>
  /** Reads again, after an error. */
  retry(): void
}

/** One task as it is now. Where there is none, `error` is `not_found`. */
export function useTask(id: string, { initial }: UseTaskOptions = {}): UseTaskResult {
  const client = useClient()
  const models = useModels()
  const handle = useMemo(() => models.task(id, initial), [models, id, initial])
  const value = useLive(handle)
  return useMemo(
    () => ({
      ...value,
      cancel: (options) => client.cancel(id, options),
      send: (content, options) => client.send(id, { ...options, content }),
      retry: () => handle.current?.live.retry(),
    }),
    [value, handle, client, id],
  )
}
