import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keptToken, tokenFile } from '../../../../src/server/auth/token-file.ts'
import { makeStateFolder, stateFolder } from '../../../../src/server/state-folder.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-token-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('the token of this machine', () => {
  it('is made of 32 random bytes, in a file of its owner alone', () => {
    const token = keptToken(folder)
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(readFileSync(tokenFile(folder), 'utf8')).toBe(`${token}\n`)
    expect(statSync(tokenFile(folder)).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['token'])
  })

  it('is the same the next time', () => {
    expect(keptToken(folder)).toBe(keptToken(folder))
  })

  it('is refused when others can read it', () => {
    keptToken(folder)
    chmodSync(tokenFile(folder), 0o640)
    expect(() => keptToken(folder)).toThrow('can be read by others')
  })

  it.each(['', 'short', 'with space '.repeat(10)])('is refused when it is %j', (text) => {
    writeFileSync(tokenFile(folder), text, { mode: 0o600 })
    expect(() => keptToken(folder)).toThrow('does not hold a token')
  })

  it('is refused when its file is a folder, or cannot be there', () => {
    mkdirSync(tokenFile(folder), { mode: 0o700 })
    expect(() => keptToken(folder)).toThrow('is no file')
    expect(() => keptToken(join(folder, 'missing'))).toThrow('cannot be written')
  })
})

describe('the state folder', () => {
  it('is under the XDG state folder, or else the home folder', () => {
    expect(stateFolder({ XDG_STATE_HOME: '/var/states' })).toBe('/var/states/holdfast')
    expect(stateFolder({ XDG_STATE_HOME: 'relative' })).toMatch(/\/\.local\/state\/holdfast$/)
    expect(stateFolder({})).toMatch(/\/\.local\/state\/holdfast$/)
  })

  it('is made for its owner alone', () => {
    const made = join(folder, 'state', 'holdfast')
    makeStateFolder(made)
    makeStateFolder(made)
    expect(statSync(made).mode & 0o777).toBe(0o700)
  })

  it('that cannot be made is named', () => {
    writeFileSync(join(folder, 'file'), '')
    expect(() => makeStateFolder(join(folder, 'file', 'holdfast'))).toThrow(/file\/holdfast cannot be made/)
  })
})
