/** The clock of a store that is given no other: the machine's own, because only this process writes to the file. */
export const sqliteClock: { now(): number } = { now: () => Date.now() }
