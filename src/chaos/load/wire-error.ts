/** A problem as a node tells it, over HTTP or in a frame. */
export interface Problem {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly [fact: string]: unknown
}

/** A node refused what it was asked for. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly problem: Problem

  constructor(problem: Problem) {
    super(`${problem.status} ${problem.code}: ${String(problem['detail'] ?? problem.title)}`)
    this.problem = problem
  }
}

/** No answer came, or not the whole of it: nobody knows whether it was done. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered'
}

export function unanswered(cause: unknown): never {
  throw new Unanswered('The connection broke', { cause })
}
