import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileSize } from '../show/file-size.ts'
import { type Check, note, ok, thrown, wrongly } from './check.ts'

const nodeMajorMin = 24
// Below this the next checkpoint may not fit any more.
const freeBytesMin = 64 * 1024 * 1024
const freeBytesLow = 1024 * 1024 * 1024
// No program of today was made before; a machine that says so has lost its clock.
const builtAt = Date.UTC(2026, 0, 1)
// More than two machines' clocks differ by in practice.
const driftMsMax = 60_000

export function nodeCheck(version: string): Check {
  if (Number(version.split('.')[0]) >= nodeMajorMin) return ok('node', `Node ${version}`)
  return wrongly('node', `Node ${version} is too old`, `Install Node ${nodeMajorMin} or later`)
}

/** The disk that a folder is on, or would be on. */
export function diskCheck(folder: string): Check {
  try {
    const { bavail, bsize } = statfsSync(existing(folder))
    return spaceCheck(bavail * bsize, folder)
  } catch (error) {
    return thrown('disk', error)
  }
}

export function spaceCheck(freeBytes: number, folder: string): Check {
  const finding = `${fileSize(freeBytes)} free for ${folder}`
  if (freeBytes < freeBytesMin) return wrongly('disk', finding, 'Free some space: nothing is accepted on a full disk')
  return freeBytes < freeBytesLow ? note('disk', finding, 'Free some space before it is full') : ok('disk', finding)
}

/** The clock against the newest event of the store: numbers order the log, but leases and time limits go by the clock. */
export function clockCheck(now: number, newestAt: number | undefined): Check {
  const finding = `It is ${new Date(now).toISOString()}`
  if (now < builtAt) return wrongly('clock', `${finding}, which cannot be`, 'Set the clock of this machine')
  const aheadMs = (newestAt ?? 0) - now
  if (aheadMs <= driftMsMax) return ok('clock', finding)
  const written = `the newest event of the store is of ${new Date(newestAt ?? 0).toISOString()}`
  return wrongly('clock', `${finding}, but ${written}`, 'Set the clock of this machine')
}

function existing(folder: string): string {
  if (existsSync(folder) || dirname(folder) === folder) return folder
  return existing(dirname(folder))
}
