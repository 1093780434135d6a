const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** How long something took, as exactly as is worth reading: 340 ms, 4.2 s, 3 m 05 s, 2 h 10 m, 4 d. */
export function durationText(ms: number): string {
  if (ms < second) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 10 * second) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  if (ms < minute) return `${Math.floor(ms / second)} s`
  if (ms < hour) return `${Math.floor(ms / minute)} m ${twoDigits((ms % minute) / second)} s`
  if (ms < day) return `${Math.floor(ms / hour)} h ${twoDigits((ms % hour) / minute)} m`
  return `${Math.floor(ms / day)} d ${Math.floor((ms % day) / hour)} h`
}

/** How long something has taken that still goes on. It moves by whole seconds; less would only flicker. */
export function lastingText(ms: number): string {
  return ms < minute ? `${Math.max(0, Math.floor(ms / second))} s` : durationText(ms)
}

/** How long ago something was, in one unit: now, 12 s, 5 m, 3 h, 9 d. */
export function ageText(ms: number): string {
  if (ms < 2 * second) return 'now'
  if (ms < minute) return `${Math.floor(ms / second)} s`
  if (ms < hour) return `${Math.floor(ms / minute)} m`
  if (ms < day) return `${Math.floor(ms / hour)} h`
  return `${Math.floor(ms / day)} d`
}

function twoDigits(value: number): string {
  return String(Math.floor(value)).padStart(2, '0')
}

const clockFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const dateFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** 12:03:22 */
export function clockText(at: number): string {
  return clockFormat.format(at)
}

/** 12:03:22.417 */
export function preciseClockText(at: number): string {
  return `${clockText(at)}.${String(at % second).padStart(3, '0')}`
}

export function dateText(at: number): string {
  return dateFormat.format(at)
}
