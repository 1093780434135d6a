import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { apiPages } from './api/api-page.ts'
import { readEntryPoints } from './api/entry-points.ts'
import { copyPictures, writeAssets } from './assets.ts'
import { files, framed } from './frame/frame.ts'
import { groupTitle, navigationOf } from './frame/navigation.ts'
import { readOpenApi } from './http/document.ts'
import { httpPage } from './http/http-page.ts'
import { readMarkdownPages } from './markdown-pages.ts'
import { checkOutline, outline } from './outline.ts'
import type { Page } from './page.ts'
import { buildIndex, indexScript } from './search/build-index.ts'
import { SourceFiles } from './source-files.ts'

/** Builds the whole site into a folder, which it empties first. Answers with the pages that stand in the navigation. */
export async function buildSite(out: string): Promise<readonly Page[]> {
  const sources = new SourceFiles()
  const { pages: written, pictures } = readMarkdownPages(sources)
  const reference = [...apiPages(readEntryPoints(), sources), httpPage(await readOpenApi())]
  const pages = [...written, ...reference]
  checkOutline(outline, new Set(pages.filter(({ under }) => under === undefined).map(({ source }) => source)))

  const navigation = navigationOf(outline, pages)
  rmSync(out, { recursive: true, force: true })
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  for (const page of [...navigation.order, ...sources.pages()]) {
    write(out, page.place, framed(page, navigation, version))
  }
  await writeAssets(out)
  write(out, files.index, indexScript(buildIndex(navigation.order, (page) => groupTitle(navigation, page))))
  copyPictures(pictures, out)
  return navigation.order
}

function write(out: string, place: string, text: string): void {
  const file = path.join(out, place)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
}
