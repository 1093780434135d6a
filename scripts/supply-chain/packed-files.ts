// What kinds of files the published package has. A new kind is added here on purpose, or it is a mistake: a test, a key, a
// database that somebody left in a folder that is packed.

interface Kind {
  readonly what: string
  readonly paths: RegExp
}

const parts = 'ai-sdk|chaos|cli|client|core|protocol|react|runtime|server|stores|testing|webhook'

export const packedKinds: readonly Kind[] = [
  { what: 'the manifest', paths: /^package\.json$/ },
  { what: 'what is read', paths: /^(README|CHANGELOG)\.md$|^LICENSE$/ },
  { what: 'the command', paths: /^bin\/holdfast\.js$/ },
  {
    what: 'compiled code and its types',
    paths: new RegExp(`^dist/(?:(?:${parts})/(?:[a-z0-9-]+/)*)?[a-z0-9-]+\\.(?:js|d\\.ts)$`),
  },
  { what: 'migrations', paths: /^dist\/stores\/(sqlite|postgres)\/migrations\/\d{4}_[a-z0-9_-]+\.sql$/ },
  { what: 'the page of the console', paths: /^dist\/console\/(index\.html|favicon\.svg|theme\.js|licences\.md)$/ },
  { what: 'code and styles of the console', paths: /^dist\/console\/assets\/[\w-]+\.(js|css)$/ },
]

/** A sentence for each file that is of no known kind, and for each kind of which there is none. */
export function packedProblems(paths: readonly string[]): readonly string[] {
  const strange = paths.filter((path) => !packedKinds.some((kind) => kind.paths.test(path)))
  const missing = packedKinds.filter((kind) => !paths.some((path) => kind.paths.test(path)))
  return [
    ...strange.map((path) => `${path} would be published, and is of no kind in scripts/supply-chain/packed-files.ts`),
    ...missing.map(({ what }) => `Nothing would be published of ${what}. Run npm run build first`),
  ]
}

/** The paths in what `npm pack --dry-run --json` prints. */
export function pathsOfPack(output: string): readonly string[] {
  const [pack] = JSON.parse(output) as readonly { readonly files: readonly { readonly path: string }[] }[]
  if (!pack) throw new Error('npm pack named no package')
  return pack.files.map(({ path }) => path)
}
