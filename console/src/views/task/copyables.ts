import type { Task } from 'holdfast/client'
import type { Copyable } from '../../design/copy-menu.tsx'
import { apiUrl, linkTo, taskPath } from '../../place.ts'

/** The forms in which a task is of use elsewhere. */
export function copyables(task: Task): readonly Copyable[] {
  const { id } = task
  return [
    { title: 'Id', text: () => id, hint: id.slice(-12) },
    { title: 'Link', text: () => linkTo(taskPath(id)), hint: 'y' },
    {
      title: 'curl',
      text: () =>
        `curl -H "Authorization: Bearer $HOLDFAST_TOKEN" ${quoted(`${apiUrl}/v1/tasks/${encodeURIComponent(id)}`)}`,
    },
    { title: 'CLI', text: () => `holdfast --url ${quoted(apiUrl)} logs ${quoted(id)} --follow` },
    { title: 'JSON', text: () => JSON.stringify(task, null, 2) },
  ]
}

/** As one word of a shell, whatever is in it. */
function quoted(text: string): string {
  return /^[\w./:@%~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
