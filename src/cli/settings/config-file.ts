import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { errorMessage } from '../error-message.ts'
import { wrong } from '../wrong.ts'
import type { Sources } from './settings.ts'

const defaultFile = 'holdfast.config.ts'

/** What the config file exports: the one named, else `holdfast.config.ts` of the folder if it is there. */
export async function loadConfig(named: string | undefined, folder: string): Promise<Sources['config']> {
  const file = named ?? defaultFile
  const path = resolve(folder, file)
  if (!existsSync(path)) {
    if (named === undefined) return undefined
    throw wrong(`There is no config file ${path}`)
  }
  const values = await defaultExport(file, folder)
  if (typeof values === 'object' && values !== null && !Array.isArray(values)) return { file, values: { ...values } }
  throw wrong(`The config file ${file} has no object as its default export. Write: export default { … }`)
}

async function defaultExport(file: string, folder: string): Promise<unknown> {
  const path = resolve(folder, file)
  try {
    const options = path.endsWith('.json') ? { with: { type: 'json' } } : {}
    const module: { readonly default?: unknown } = await import(pathToFileURL(path).href, options)
    return module.default
  } catch (error) {
    if (isTakenForCommonJs(error)) {
      const why = `The config file ${file} is taken for CommonJS, because package.json says so`
      throw wrong(`${why}. Make it an ES module: npm pkg set type=module`)
    }
    throw wrong(`The config file ${file} cannot be loaded: ${errorMessage(error)}${placeOf(error, folder)}`)
  }
}

/** What `npm init` makes is CommonJS, in which Node stumbles over the first word of a module. */
function isTakenForCommonJs(error: unknown): boolean {
  return error instanceof SyntaxError && /^Cannot use import statement|^Unexpected token 'export'/.test(error.message)
}

/** Where it happened in what its author wrote, in brackets; nothing where that is not known. */
function placeOf(error: unknown, folder: string): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  // From there on it is who loads the file.
  const [ofFile = ''] = stack.split(import.meta.url)
  const places = [...ofFile.matchAll(/(file:\/\/\/[^\s()]+?):(\d+)/g)]
  const [, url, line] = places.find(([place]) => !place.includes('/node_modules/')) ?? []
  return url === undefined ? '' : ` (${relative(folder, fileURLToPath(url))}:${line})`
}
