import type { Html } from './html.ts'

/** A heading that the contents of a page list. */
export interface Heading {
  readonly id: string
  readonly text: string
  /** 2 and 3; deeper ones are not listed. */
  readonly depth: number
}

/** A part of a page that a search finds, and the place it leads to. */
export interface Section {
  /** Empty for what stands above the first heading. */
  readonly id: string
  readonly heading: string
  readonly text: string
}

export interface Page {
  /** In the repository, or the name it has in the outline. */
  readonly source: string
  /** In the site. */
  readonly place: string
  readonly title: string
  readonly body: Html
  readonly contents: readonly Heading[]
  readonly sections: readonly Section[]
  /** The page that the navigation shows as the current one, where that is another. */
  readonly under?: string
}
