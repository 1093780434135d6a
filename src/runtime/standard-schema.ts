/**
 * As much of Standard Schema (https://standardschema.dev), version 1, as is used here: what Zod, Valibot, ArkType and others
 * show of a schema under one name, so that none of them is needed to take any of them.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    /** Of schemas that are Standard JSON Schema as well. Throws if there is none for what they take. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Readonly<Record<string, unknown>>
    }
  }
}

/** A value as the schema makes it, or what is wrong with it. */
type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What a schema makes of what it takes. */
export type SchemaOutput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output']

export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const shown = (value as Partial<StandardSchema>)['~standard']
  return shown?.version === 1 && typeof shown.validate === 'function'
}

/** The JSON Schema of what a schema takes, where it can give one. */
export function jsonSchemaOf({ '~standard': shown }: StandardSchema): object | undefined {
  try {
    return shown.jsonSchema?.input({ target: 'draft-2020-12' })
  } catch {
    // What cannot be said in JSON Schema is left unsaid; it is checked all the same.
    return undefined
  }
}
