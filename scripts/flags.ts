import { type ParseArgsConfig, parseArgs } from 'node:util'

/** Reads the flags that a program of this repository was started with. What it does not know it says in a line, and ends. */
export function readFlags<const Options extends NonNullable<ParseArgsConfig['options']>>(options: Options) {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    const [sentence = ''] = error instanceof Error ? error.message.split('. ') : []
    const known = Object.keys(options).map((name) => `--${name}`)
    return complain(`${sentence}. There is ${known.join(', ')}`)
  }
}

/** Ends the program because of what it was asked for. */
export function complain(text: string): never {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}
