/**
 * A deep copy that cannot be changed. What the caller keeps is not what the store keeps, and what the store
 * gives out needs no second copy.
 */
export function frozenCopy<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  const copy = Array.isArray(value)
    ? value.map(frozenCopy)
    : Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, frozenCopy<unknown>(inner)]))
  return Object.freeze(copy) as Value
}
