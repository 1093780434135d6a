import { describe, expect, it } from 'vitest'
import { commandStart } from '../../../src/cli/command-start.ts'

describe('the start of a command to copy', () => {
  it('is npx where npm started the program, and names the server if it is given one', () => {
    expect(commandStart({})).toBe('holdfast')
    expect(commandStart({ npm_command: 'exec' })).toBe('npx holdfast')
    expect(commandStart({}, 'http://127.0.0.1:4751')).toBe('holdfast --url http://127.0.0.1:4751')
  })

  it('repeats no URL that may hold a secret', () => {
    for (const url of ['http://u:pw@host:1', 'http://host/?token=pw', 'http://host/#pw', 'pw@host'])
      expect(commandStart({}, url)).toBe('holdfast')
  })

  it('is one that a shell takes as it is meant', () => {
    expect(commandStart({}, "http://x/a'b c")).toBe("holdfast --url 'http://x/a'\\''b c'")
  })
})
