import { type ParseArgsConfig, parseArgs } from 'node:util'

/** Reads the flags that a program of this repository was started with. What it does not know it says in a line, and ends; so it does for `--help`. */
export function readFlags<const Options extends NonNullable<ParseArgsConfig['options']>>(options: Options) {
  const known = Object.keys(options)
    .map((name) => `--${name}`)
    .join(', ')
  try {
    return parseArgs({ options }).values
  } catch (error) {
    if (process.argv.includes('--help')) return explain(`It takes ${known}`)
    const [sentence = ''] = error instanceof Error ? error.message.split('. ') : []
    return complain(`${sentence}. There is ${known}`)
  }
}

function explain(text: string): never {
  process.stdout.write(`${text}\n`)
  process.exit(0)
}

/** Ends the program because of what it was asked for. */
export function complain(text: string): never {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}
