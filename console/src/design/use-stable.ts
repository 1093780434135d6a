import { useCallback, useLayoutEffect, useRef } from 'react'

/** The same function for ever, which does what the one of the last render does: rows that are given it need not render again. */
export function useStable<Given extends readonly unknown[], Value>(act: (...given: Given) => Value) {
  const latest = useRef(act)
  useLayoutEffect(() => {
    latest.current = act
  })
  return useCallback((...given: Given): Value => latest.current(...given), [])
}
