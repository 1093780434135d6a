import type { Task } from 'holdfast/client'
import { oneLine } from './one-line.ts'

/** What a task is called: what it is described as; its name, where nothing but the agent would describe it. */
export function taskTitle({ description, name, agent, id }: Task, countMax?: number): string {
  const said = description === agent && name !== undefined ? name : description
  return oneLine(said, countMax) || id
}
