import { expect, it } from 'vitest'
import { endingOf } from '../../../src/cli/doctor/lock-check.ts'

it.each([
  ['17', 'psql', 'SELECT pg_terminate_backend(17)'],
  ['forgotten', 'prepared', "ROLLBACK PREPARED 'forgotten'"],
  ["it's", 'prepared', "ROLLBACK PREPARED 'it''s'"],
])('what ends %s of %s can be pasted as it is', (who, application, sql) => {
  expect(endingOf(who, application)).toBe(sql)
})
