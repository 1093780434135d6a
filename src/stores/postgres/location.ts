import { HoldfastError } from '../../core/errors.ts'

/** Where a store is: how to connect, which schema is its own, and what it is called in messages. */
export interface Location {
  readonly connectionString: string
  readonly schema: string
  /** Without the password. */
  readonly name: string
}

const schemaDefault = 'holdfast'
// What needs no quotes, so that every tool can name it.
const schemaPattern = /^[a-z_][a-z0-9_]{0,62}$/

/** Reads `postgres://user:password@host:port/database?schema=NAME`. What else stands in the query is for the driver. */
export function locate(given: string): Location {
  if (!URL.canParse(given)) throw badUrl('It is no URL')
  const url = new URL(given)
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') throw badUrl('It begins with postgres://')
  const schema = url.searchParams.get('schema') ?? schemaDefault
  if (!schemaPattern.test(schema)) throw badUrl('A schema is 1-63 characters of a-z0-9_ and begins with no digit')
  url.searchParams.delete('schema')
  const name = `postgres://${url.host}${url.pathname}${schema === schemaDefault ? '' : `?schema=${schema}`}`
  return { connectionString: url.href, schema, name }
}

function badUrl(why: string): HoldfastError {
  const form = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME'
  return new HoldfastError('invalid_request', `The URL of the store is not right. ${why}: ${form}`)
}
