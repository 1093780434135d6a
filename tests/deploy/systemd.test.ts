import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../cli/harness/local-server.ts'
import { fileText } from './harness/formats.ts'

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

/** What systemd has to say of a unit file, but for other units of the machine. */
function complaintsAbout(file: string, text: string): string[] {
  const path = join(tempFolder(), file)
  // What it starts has to be there.
  writeFileSync(path, text.replace('/usr/local/bin/holdfast', process.execPath))
  const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' })
  return stderr.split('\n').filter((line) => line.includes('holdfast'))
}

describe.skipIf(!hasSystemd).each(['holdfast.service', 'holdfast@.service'])('deploy/%s', (file) => {
  const text = fileText(`deploy/${file}`)

  it('is a unit that systemd finds nothing wrong with', () => {
    expect(complaintsAbout(file, text)).toEqual([])
  })

  it('would be complained of with a setting that there is not, or a value that it cannot have', () => {
    const wrong = text.replace('ProtectClock=', 'ProtectClocks=').replace('RestartSec=1', 'RestartSec=soon')
    expect(complaintsAbout(file, wrong)).toHaveLength(2)
  })
})
