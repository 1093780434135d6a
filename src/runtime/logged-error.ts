/** An error as a log has it, under `err`. */
export interface LoggedError {
  readonly message: string
  readonly type?: string
  readonly stack?: string
}

// Deeper ones say how a library is built.
const causesMax = 4
// Frames are at the end, and a message before them may be of any length.
const stackLengthMax = 8_192

/**
 * What is said of what the code of a task threw: where that was, and the text that the task has of it. Nothing that an error brings
 * beside, which may be all of a conversation. Never throws, whatever it is given.
 */
export function loggedError(thrown: unknown, message: string): LoggedError {
  try {
    if (thrown instanceof Error) return bare({ type: String(thrown.name), message, stack: stackOf(thrown) })
  } catch {
    // One that throws when it is looked at has no more to say.
  }
  return bare({ message })
}

/** Without a constructor, which pino would take for the type of it; a logger that writes text has one of it all the same. */
function bare(error: LoggedError): LoggedError {
  const text = () => error.stack ?? error.message
  return Object.defineProperties({ ...error }, { constructor: { value: undefined }, toString: { value: text } })
}

function stackOf(thrown: Error): string {
  const stacks: string[] = []
  for (let error: unknown = thrown; error instanceof Error && stacks.length < causesMax; error = error.cause) {
    stacks.push(shortened(String(error.stack)))
  }
  return stacks.join('\ncaused by: ')
}

function shortened(stack: string): string {
  return stack.length <= stackLengthMax ? stack : `…${stack.slice(-stackLengthMax)}`
}
