/** What a machine becomes, and what is to be done about it, in this order. */
export type Step<State, Action> = readonly [next: State, actions: readonly Action[]]

/**
 * Feeds a pure machine and does what it says. An input that comes while another is being dealt with waits for its turn,
 * so that what is done never finds the machine halfway.
 */
export class Machine<State, Input, Action> {
  #state: State
  readonly #step: (state: State, input: Input) => Step<State, Action>
  readonly #act: (action: Action) => void
  readonly #inputs: Input[] = []
  #isStepping = false

  constructor(state: State, step: (state: State, input: Input) => Step<State, Action>, act: (action: Action) => void) {
    this.#state = state
    this.#step = step
    this.#act = act
  }

  get state(): State {
    return this.#state
  }

  send(input: Input): void {
    this.#inputs.push(input)
    if (this.#isStepping) return
    this.#isStepping = true
    for (let next = this.#inputs.shift(); next !== undefined; next = this.#inputs.shift()) {
      const [state, actions] = this.#step(this.#state, next)
      this.#state = state
      for (const action of actions) this.#act(action)
    }
    this.#isStepping = false
  }
}
