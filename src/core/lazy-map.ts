/** A map that takes next to no memory while it is empty, for the many indexes that mostly are. */
export class LazyMap<Key, Value> {
  #map: Map<Key, Value> | undefined

  get(key: Key): Value | undefined {
    return this.#map?.get(key)
  }

  set(key: Key, value: Value): void {
    this.#map ??= new Map()
    this.#map.set(key, value)
  }

  delete(key: Key): void {
    if (this.#map?.delete(key) && this.#map.size === 0) this.#map = undefined
  }

  clear(): void {
    this.#map = undefined
  }

  values(): Iterable<Value> {
    return this.#map?.values() ?? []
  }
}
