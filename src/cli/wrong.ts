import { HoldfastError } from '../client/index.ts'

/** A setting or an argument that cannot be taken as it is. */
export function wrong(message: string): HoldfastError {
  return new HoldfastError('invalid_request', message)
}

/** Says of what is wrong where it was said. */
export function from<Value>(source: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (error instanceof HoldfastError) throw wrong(`${source}: ${error.message}`)
    throw error
  }
}
