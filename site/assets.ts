import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'vite'
import { files } from './frame/frame.ts'
import { pictureOf } from './places.ts'

const here = import.meta.dirname

/** What pages load: the style, the script, and what is set before the first paint. */
export async function writeAssets(out: string): Promise<void> {
  mkdirSync(path.join(out, 'assets'), { recursive: true })
  writeFileSync(path.join(out, files.style), styleText())
  copyFileSync('console/public/theme.js', path.join(out, files.theme))
  copyFileSync('console/public/favicon.svg', path.join(out, files.icon))
  await buildScript(out)
}

export function copyPictures(pictures: Iterable<string>, out: string): void {
  for (const picture of pictures) {
    const target = path.join(out, pictureOf(picture))
    mkdirSync(path.dirname(target), { recursive: true })
    copyFileSync(picture, target)
  }
}

/** The colours and measures are those of the console, so that the two never look like two. */
function styleText(): string {
  const tokens = readFileSync('console/src/design/tokens.css', 'utf8')
  const theme = /@theme \{\n(.*?)\n\}/s.exec(tokens)?.[1]
  if (theme === undefined)
    throw new Error('console/src/design/tokens.css has no @theme any more; take the colours from where they are now')
  const properties = theme.replaceAll(/^ *--[\w-]+\*: initial;\n/gm, '')
  const own = globSync('styles/*.css', { cwd: here }).sort()
  return [`:root {\n${properties}\n}\n`, ...own.map((file) => readFileSync(path.join(here, file), 'utf8'))].join('\n')
}

/** One script and no module: a browser loads no modules from a disk. */
async function buildScript(out: string): Promise<void> {
  await build({
    configFile: false,
    root: here,
    logLevel: 'warn',
    publicDir: false,
    build: {
      outDir: path.resolve(out, 'assets'),
      emptyOutDir: false,
      lib: { entry: 'browser/main.ts', formats: ['iife'], name: 'holdfastSite', fileName: () => 'site.js' },
    },
  })
}
