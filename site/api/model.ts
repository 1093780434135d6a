/** Where something is declared. */
export interface Declared {
  readonly file: string
  readonly line: number
  readonly name: string
}

/** A word of a code that names something else. */
export interface Reference {
  readonly start: number
  readonly end: number
  readonly to: Declared
}

export interface Code {
  readonly text: string
  readonly references: readonly Reference[]
}

/** A field, a method, or an overload of one. */
export interface ApiMember {
  readonly name: string
  readonly code: Code
  readonly comment: string
}

export const kinds = ['function', 'class', 'interface', 'type', 'constant'] as const

export type ApiKind = (typeof kinds)[number]

export interface ApiName {
  readonly name: string
  readonly kind: ApiKind
  /** One for each overload. */
  readonly signatures: readonly Code[]
  readonly comment: string
  readonly members: readonly ApiMember[]
  readonly declared: Declared
}

/** What can be imported from one name of the package. */
export interface EntryPoint {
  /** As it is written in an import: `holdfast/client`. */
  readonly name: string
  readonly names: readonly ApiName[]
}

/** The same declaration, by whatever way it was found. */
export function declaredKey({ file, name }: Declared): string {
  return `${file}#${name}`
}
