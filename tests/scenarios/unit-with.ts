import type { Unit } from '../../src/core/unit.ts'

/** The one unit that wrote this event, as lines of task and type. */
export function unitWith(units: readonly Unit[], task: string, type: string): string[] {
  const isWritten = (unit: Unit) => unit.events.some((event) => event.task === task && event.type === type)
  const [unit, ...others] = units.filter(isWritten)
  if (!unit || others.length > 0) throw new Error(`${others.length + (unit ? 1 : 0)} units wrote ${type} of ${task}`)
  return unit.events.map((event) => `${event.task} ${event.type}`)
}
