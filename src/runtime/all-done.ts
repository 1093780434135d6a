/** Waits for all, also where one fails, and says whether any got something done. */
export async function allDone(served: readonly Promise<boolean>[]): Promise<boolean> {
  const outcomes = await Promise.allSettled(served)
  const failure = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failure) throw failure.reason
  return outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value)
}
