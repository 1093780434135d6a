import type { Config } from '../../index.ts'
import { nearestHint } from '../nearest.ts'
import { wrong } from '../wrong.ts'

/** Every setting that a config file can have. */
export const settingNames: readonly string[] = Object.keys({
  url: true,
  port: true,
  host: true,
  store: true,
  token: true,
  tokens: true,
  ids: true,
  hosts: true,
  origins: true,
  trustProxy: true,
  leaseMs: true,
  graceMs: true,
  shutdownMs: true,
  concurrency: true,
  limits: true,
  retention: true,
  script: true,
  logLevel: true,
  agents: true,
  authenticate: true,
  onEnded: true,
} satisfies Record<keyof Config, true>)

/** Refuses what is no setting, whoever reads the file: a mistyped one would be missed in silence. */
export function checkSettingNames(file: string, values: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(values).find((name) => !settingNames.includes(name))
  if (unknown === undefined) return
  throw wrong(`There is no setting ${unknown}, which ${file} has${nearestHint(unknown, settingNames)}`)
}
