/** Milliseconds by a clock that all processes of the machine share; `performance.timeOrigin` differs by some. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
