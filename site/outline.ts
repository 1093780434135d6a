// Which pages there are and in which order they are read. A page that stands nowhere in here would be found by nobody, so the
// build refuses it.

/** The page of the HTTP API, which is made from the document that the server serves. */
export const httpApi = 'openapi.json'

/** The folder whose pages are listed on one page, and not each beside the others. */
export const decisions = 'docs/decisions/'

export interface Group {
  readonly title: string
  /** Paths in the repository, names of entry points of the package, or one of the constants above. */
  readonly pages: readonly string[]
}

export const outline: readonly Group[] = [
  {
    title: 'Start',
    pages: [
      'README.md',
      ...docs(
        'first-hour',
        'library',
        'agents',
        'client',
        'react',
        'use-chat',
        'human-in-the-loop',
        'hooks',
        'embedding',
      ),
      'examples/README.md',
      'examples/chat/README.md',
    ],
  },
  {
    title: 'Concepts',
    pages: docs('architecture', 'state-machine', 'cancellation', 'resume', 'guarantees', 'glossary'),
  },
  {
    title: 'Operate',
    pages: docs('console', 'cli', 'operations', 'scaling', 'retention', 'threat-model', 'reliability', 'benchmarks'),
  },
  {
    title: 'Reference',
    pages: [
      ...docs('protocol', 'errors'),
      httpApi,
      'holdfast',
      'holdfast/client',
      'holdfast/react',
      'holdfast/ai-sdk',
      'holdfast/testing',
      'holdfast/chaos',
      ...docs('scenarios'),
    ],
  },
  { title: 'Project', pages: ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', decisions] },
]

/** Refuses an outline that leaves out a page, names one twice, or names one that is not there. */
export function checkOutline(groups: readonly Group[], present: ReadonlySet<string>): void {
  const listed = groups.flatMap(({ pages }) => pages)
  for (const page of present) {
    if (listed.includes(page)) continue
    throw new Error(`${page} stands in no group of site/outline.ts. Add it where a reader would look for it`)
  }
  for (const [position, page] of listed.entries()) {
    if (!present.has(page)) throw new Error(`site/outline.ts lists ${page}, which is not there. Take it out`)
    if (listed.indexOf(page) !== position) throw new Error(`site/outline.ts lists ${page} twice. Take one of them out`)
  }
}

function docs(...names: readonly string[]): readonly string[] {
  return names.map((name) => `docs/${name}.md`)
}
