import { bytesText } from './figure-text.ts'

// What the server tells of this limit where none was set. From there on it limits nothing; a test holds it to the server's.
const unsetExecuting = 1_000_000

export function limitText(name: string, value: number): string | undefined {
  if (name === 'executingTasksPerAgent' && value >= unsetExecuting) return 'none'
  return name.includes('Bytes') ? bytesText(value) : value.toLocaleString('en')
}
