import { describe, expect, it } from 'vitest'
import { redactor } from '../../../../src/cli/serving/redact.ts'
import { dumpCommand, storeSecrets, storeText } from '../../../../src/cli/settings/store-url.ts'

describe('a store that is shown', () => {
  it.each([
    ['memory:', 'memory:'],
    ['sqlite:/data/a:b@c.db', 'sqlite:/data/a:b@c.db'],
    ['postgres://h/d', 'postgres://h/d'],
    ['postgres://me@h:5432/d?schema=mine', 'postgres://me@h:5432/d?schema=mine'],
    ['postgres://me:secret@h/d', 'postgres://me:***@h/d'],
    ['postgresql://me:p@ss:word@h/d', 'postgresql://me:***@h/d'],
    ['postgres://h/d?password=secret&sslmode=disable', 'postgres://h/d?password=***&sslmode=disable'],
    ['postgres://h/d?user=a&sslpassword=secret', 'postgres://h/d?user=a&sslpassword=***'],
  ])('%s is %s', (store, text) => {
    expect(storeText(store)).toBe(text)
  })
})

describe('what the log hides of a store', () => {
  it('is its password, as it is written and as it is meant, wherever that was said', () => {
    const env = { PGPASSWORD: 'of-env' }
    expect(storeSecrets('postgres://me:a%2Fb@h/d?sslpassword=key', env)).toEqual(['a%2Fb', 'a/b', 'key', 'of-env'])
    expect(storeSecrets('sqlite:./x.db', env)).toEqual([])
    expect(storeSecrets(undefined, env)).toEqual([])
  })

  it('is no password that is a name, which would hide names everywhere; but in a URL it is hidden all the same', () => {
    const store = 'postgres://app:app@h/app'
    expect(storeSecrets(store, { PGPASSWORD: 'holdfast' })).toEqual([])
    const line = JSON.stringify({ msg: `cannot open ${store}, says app` })
    expect(redactor([])(`${line}\n`)).toBe(`{"msg":"cannot open postgres://app:[redacted]@h/app, says app"}\n`)
  })
})

describe('the command that copies a database', () => {
  it('names schema, file and database, has no password, and can be pasted', () => {
    expect(dumpCommand('postgres://me:secret@h/d', 'a.dump')).toBe(
      'pg_dump --format=custom --schema=holdfast --file=a.dump postgres://me@h/d',
    )
    expect(
      dumpCommand(
        'postgres://h/d?schema=x&sslmode=verify-full&readers=3&password=secret&sslpassword=secret',
        'my copy',
      ),
    ).toBe(`pg_dump --format=custom --schema=x --file='my copy' 'postgres://h/d?sslmode=verify-full'`)
  })
})
