import { cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Makes a folder hold what another one does, and nothing else. What is gone is removed after the rest was copied: somebody may be
 * reading the folder right now, and finds everything that is still there.
 */
export async function mirror(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true })
  const kept = new Set(await readdir(from, { recursive: true }))
  const gone = (await readdir(to, { recursive: true })).filter((path) => !kept.has(path))
  for (const path of gone) await rm(join(to, path), { recursive: true, force: true })
}
