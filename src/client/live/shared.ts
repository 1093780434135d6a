import type { Live, LiveModel, Loadable } from './live-model.ts'

type Make<Model> = (onStopped: () => void) => Model

/** One model for each key, for all who look at the same thing. */
export class Shared<Value extends Loadable, Model extends { readonly live: LiveModel<Value> }> {
  readonly #models = new Map<string, Model>()

  /** Nothing is kept and nothing asked for until somebody subscribes: a page that is rendered on a server only reads `initial`. */
  handle(key: string, initial: Value, make: Make<Model>): Handle<Value, Model> {
    const models = this.#models
    return {
      initial,
      get current() {
        return models.get(key)
      },
      get: () => models.get(key)?.live.get() ?? initial,
      subscribe(onChange) {
        const model = models.get(key) ?? make(() => models.delete(key))
        models.set(key, model)
        return model.live.subscribe(onChange)
      },
    }
  }
}

/** A place from which a shared model is looked at. */
export interface Handle<Value, Model> extends Live<Value> {
  /** The value before anything was heard. */
  readonly initial: Value
  /** The model, while anybody looks at it. */
  readonly current: Model | undefined
}
