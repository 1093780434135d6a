/** A problem as the server tells it, over HTTP or in a frame. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: string
  readonly requestId: string
  readonly [fact: string]: unknown
}

/** Thrown where a client asked for something that was refused. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly problem: Problem
  readonly code: string
  readonly status: number

  constructor(problem: Problem) {
    super(`${problem.status} ${problem.code}: ${String(problem['detail'] ?? problem.title)}`)
    this.problem = problem
    this.code = problem.code
    this.status = problem.status
  }
}
