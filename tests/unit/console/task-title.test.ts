import { describe, expect, it } from 'vitest'
import { taskTitle } from '../../../console/src/design/task-title.ts'
import type { Task } from '../../../src/client/index.ts'
import { describe as descriptionOf } from '../../../src/core/task.ts'

const task = (more: object): Task => ({ id: 'bg_0', agent: 'writer', ...more }) as unknown as Task

describe('the title of a task', () => {
  const line = 'word '.repeat(30).trim()
  // As the server cuts it, whose constant the console cannot see.
  const derived = descriptionOf(undefined, line, undefined)

  it('shows that a description was cut off the prompt', () => {
    expect(taskTitle(task({ description: derived, input: line }))).toBe(`${derived.trim()}…`)
    expect(taskTitle(task({ description: derived, input: `\n  ${line}\nmore` }))).toBe(`${derived.trim()}…`)
  })

  it('is the description as it is, where it is a whole line or was given', () => {
    expect(taskTitle(task({ description: 'Read it', input: 'Read it\nand tell' }))).toBe('Read it')
    expect(taskTitle(task({ description: 'Read it', input: 'Read it all, and tell' }))).toBe('Read it')
    expect(taskTitle(task({ description: 'x'.repeat(80), input: `${'x'.repeat(80)}  \nmore` }))).toBe('x'.repeat(80))
    expect(taskTitle(task({ description: 'x'.repeat(80), input: { text: 'x' } }))).toBe('x'.repeat(80))
  })

  it('is the name where only the agent would describe it, and the id where nothing does', () => {
    expect(taskTitle(task({ description: 'writer', name: 'chapter' }))).toBe('chapter')
    expect(taskTitle(task({ description: ' ' }))).toBe('bg_0')
  })
})
