import type { Task } from 'holdfast/client'
import { oneLine } from './one-line.ts'

/** What a task is called: what it is described as; its name, where nothing but the agent would describe it. */
export function taskTitle(task: Task, countMax?: number): string {
  const { description, name, agent, id } = task
  const said = description === agent && name !== undefined ? name : description
  const line = oneLine(said, countMax)
  return (isCut(task) && !line.endsWith('…') ? `${line}…` : line) || id
}

// Where nobody has described a task, the server makes so much of the first line of its prompt its description. A test holds it to
// the server's.
const derivedLength = 80

function isCut({ description, input }: Task): boolean {
  if (typeof input !== 'string' || [...description].length !== derivedLength) return false
  const [line = ''] = input.trimStart().split('\n', 1)
  return line.startsWith(description) && line.trimEnd().length > description.length
}
