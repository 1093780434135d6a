import { expect, it } from 'vitest'
import { connectionNotices } from '../../../src/cli/connection-notices.ts'

it('tells of tries to come back while the waits grow, in seconds from one on', () => {
  const said: string[] = []
  const heed = connectionNotices((text) => said.push(text))
  const lose = (...waits: readonly number[]) => {
    for (const retryInMs of waits) heed({ code: 'reconnecting', message: `in ${retryInMs}`, retryInMs })
  }
  lose(200, 380, 900, 2100, 3900, 12_535, 9000, 14_000)
  heed({ code: 'reconnected', message: 'The server is heard again' })
  lose(200)
  expect(said).toEqual([
    'The connection is lost; the next try is in 200 ms',
    'The connection is lost; the next try is in 900 ms',
    'The connection is lost; the next try is in 2 s',
    'The connection is lost; the next try is in 13 s',
    'The server is heard again',
    'The connection is lost; the next try is in 200 ms',
  ])
})
