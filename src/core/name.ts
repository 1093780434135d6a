import { HoldfastError } from './errors.ts'

const namePattern = /^[A-Za-z0-9_-]{1,64}$/
// Words that address something other than one named task; a task called so could never be meant.
const reservedNames: readonly string[] = ['parent', 'self', 'all', 'broadcast']

/** Refuses what is no name. */
export function checkNameText(name: string): void {
  if (typeof name === 'string' && namePattern.test(name)) return
  throw new HoldfastError('invalid_request', 'A name is 1-64 characters of A-Za-z0-9_-')
}

/** Gives the name back if a task may have it. Whether it is free is for the thread to say. */
export function checkName(name: string): string {
  checkNameText(name)
  if (reservedNames.includes(name)) {
    throw new HoldfastError('reserved_name', `The name ${name} is reserved, as are ${others(name)}: choose another`)
  }
  return name
}

function others(name: string): string {
  return reservedNames.filter((reserved) => reserved !== name).join(', ')
}
