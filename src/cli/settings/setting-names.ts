import { nearestHint } from '../nearest.ts'
import { wrong } from '../wrong.ts'

/** Every setting that a config file can have. */
export const settingNames = [
  'url',
  'port',
  'host',
  'store',
  'token',
  'tokens',
  'ids',
  'hosts',
  'origins',
  'trustProxy',
  'leaseMs',
  'graceMs',
  'shutdownMs',
  'concurrency',
  'limits',
  'retention',
  'script',
  'logLevel',
  'agents',
  'authenticate',
  'onEnded',
] as const

export type SettingName = (typeof settingNames)[number]

/** Refuses what is no setting, whoever reads the file: a mistyped one would be missed in silence. */
export function checkSettingNames(file: string, values: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(values).find((name) => !(settingNames as readonly string[]).includes(name))
  if (unknown === undefined) return
  throw wrong(`There is no setting ${unknown}, which ${file} has${nearestHint(unknown, settingNames)}`)
}
