import { describe, expect, it } from 'vitest'
import { clockCheck, nodeCheck, spaceCheck } from '../../../src/cli/doctor/machine-checks.ts'
import { serverFinding } from '../../../src/cli/doctor/server-check.ts'
import { reportChecks } from '../../../src/cli/doctor/store-checks.ts'
import { fileSize } from '../../../src/cli/show/file-size.ts'

const mebibyte = 1024 * 1024
const url = 'http://127.0.0.1:4747'

describe('the checks of the doctor', () => {
  it('know which Node is new enough', () => {
    expect(nodeCheck('24.0.0')).toMatchObject({ status: 'ok' })
    expect(nodeCheck('22.19.0')).toMatchObject({ status: 'wrong', advice: 'Install Node 24 or later' })
  })

  it('tell a disk that is nearly full from one that is full', () => {
    expect(spaceCheck(5_000 * mebibyte, '/')).toMatchObject({ status: 'ok' })
    expect(spaceCheck(500 * mebibyte, '/')).toMatchObject({ status: 'note' })
    expect(spaceCheck(5 * mebibyte, '/')).toMatchObject({ status: 'wrong', finding: '5.0 MiB free for /' })
  })

  it('take a clock for wrong that is older than the program, or well behind the store', () => {
    const now = Date.UTC(2027, 0, 1)
    expect(clockCheck(now, undefined)).toMatchObject({ status: 'ok' })
    expect(clockCheck(now, now + 30_000)).toMatchObject({ status: 'ok' })
    expect(clockCheck(now, now + 90_000)).toMatchObject({ status: 'wrong' })
    expect(clockCheck(0, undefined)).toMatchObject({ status: 'wrong' })
  })

  it('tell a server that takes no work, and one that shuts down', () => {
    const refusing = (code: string) => ({ isAlive: true, readiness: { status: 503, body: { code } } })
    expect(serverFinding(url, { isHeld: true }, refusing('store_unavailable'), 'holdfast')).toMatchObject({
      status: 'wrong',
    })
    expect(serverFinding(url, { isHeld: true }, refusing('draining'), 'holdfast')).toMatchObject({ status: 'note' })
    expect(serverFinding(url, { isHeld: true }, { isAlive: true }, 'holdfast')).toMatchObject({ status: 'wrong' })
    expect(serverFinding(url, { isHeld: false, nodeCount: 1 }, { isAlive: false }, 'holdfast')).toEqual({
      name: 'server',
      status: 'note',
      finding: `None answers at ${url}, but a node has a lease`,
      advice: 'Tell where it listens with --url or HOLDFAST_URL',
    })
    const inMemory = { isAlive: true, readiness: { status: 200, body: { store: 'memory' } } }
    expect(serverFinding(url, { isHeld: false }, inMemory, 'holdfast')).toMatchObject({
      status: 'ok',
      finding: expect.stringContaining('memory'),
    })
  })

  it('tell a log that has grown, and one that belongs to another store', () => {
    const version = { major: 1, minor: 2 }
    const report = {
      path: '/s.db',
      bytes: mebibyte,
      logBytes: 200 * mebibyte,
      othersMode: 0,
      isHeld: true,
      isCopy: false,
      schema: { found: version, newest: version, missing: [] },
      damage: [],
      executing: [],
    }
    expect(reportChecks(report, 'holdfast').at(-1)).toMatchObject({
      status: 'note',
      finding: '200.0 MiB, more than usual',
    })
    expect(reportChecks({ ...report, isCopy: true }, 'holdfast').at(-1)).toMatchObject({
      advice: 'The next start removes it',
    })
    expect(
      reportChecks({ ...report, schema: { ...report.schema, found: { major: 1, minor: 9 } } }, 'holdfast')[2],
    ).toMatchObject({
      status: 'note',
      finding: '1.9, of a newer Holdfast, which this one works on',
    })
  })
})

describe('a size', () => {
  it.each([
    [0, '0 bytes'],
    [1_023, '1023 bytes'],
    [1_024, '1.0 KiB'],
    [3.5 * mebibyte, '3.5 MiB'],
    [2 ** 60, '1048576.0 TiB'],
  ])('of %d bytes is read as %s', (bytes, text) => {
    expect(fileSize(bytes)).toBe(text)
  })
})
