import type { Task } from 'holdfast/client'
import type { Copyable } from '../../design/copy-menu.tsx'
import { shellWord } from '../../design/shell-word.ts'
import { apiUrl } from '../../place.ts'

/** The forms in which a task is of use elsewhere. */
export function copyables(task: Task): readonly Copyable[] {
  const { id } = task
  return [
    { title: 'Id', text: () => id, hint: id.slice(-12) },
    { title: 'Link', text: () => location.href, hint: 'y' },
    {
      title: 'curl',
      text: () =>
        `curl -H "Authorization: Bearer $HOLDFAST_TOKEN" ${shellWord(`${apiUrl}/v1/tasks/${encodeURIComponent(id)}`)}`,
    },
    { title: 'CLI', text: () => `holdfast --url ${shellWord(apiUrl)} logs ${shellWord(id)} --follow` },
    { title: 'JSON', text: () => JSON.stringify(task, null, 2) },
  ]
}
