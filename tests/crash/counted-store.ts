import type { Store } from '../../src/stores/store.ts'

/** The n-th call of a method of the store, and the moment before or after it was performed. */
export interface CallPoint {
  readonly method: string
  readonly nth: number
  readonly when: 'before' | 'after'
}

/** Tells of every call of a store's methods, right before it is made and right after it was answered. */
export function countedStore(inner: Store, onCall: (point: CallPoint) => void): Store {
  const counts = new Map<string, number>()
  return new Proxy(inner, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      const method = String(property)
      return (...args: unknown[]): unknown => {
        const nth = (counts.get(method) ?? 0) + 1
        counts.set(method, nth)
        onCall({ method, nth, when: 'before' })
        const answer: unknown = Reflect.apply(value, target, args)
        if (!(answer instanceof Promise)) return answer
        return answer.then((given: unknown) => {
          onCall({ method, nth, when: 'after' })
          return given
        })
      }
    },
  })
}
