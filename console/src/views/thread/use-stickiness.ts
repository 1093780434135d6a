import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

// Nearer to the end than this counts as being there; a finger is not exact.
const nearPixels = 48

/** Keeps a column at its end while it grows, unless somebody has scrolled away; then it tells that there is news. */
export function useStickiness(scrollRef: RefObject<HTMLElement | null>, content: readonly { readonly key: string }[]) {
  const [isAtEnd, setAtEnd] = useState(true)
  const [hasNews, setNews] = useState(false)
  const isStuck = useRef(true)
  const toEnd = useCallback(() => {
    const scroller = scrollRef.current
    if (!scroller) return
    isStuck.current = true
    setAtEnd(true)
    setNews(false)
    scroller.scrollTop = scroller.scrollHeight
  }, [scrollRef])
  useEffect(() => {
    const scroller = scrollRef.current
    if (!scroller) return
    const onScroll = () => {
      const isNear = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < nearPixels
      isStuck.current = isNear
      setAtEnd(isNear)
      if (isNear) setNews(false)
    }
    // Whatever makes it taller, be it a word or a picture or a card that is opened.
    const observer = new ResizeObserver(() => {
      if (isStuck.current) scroller.scrollTop = scroller.scrollHeight
    })
    observer.observe(scroller)
    if (scroller.firstElementChild) observer.observe(scroller.firstElementChild)
    scroller.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      observer.disconnect()
      scroller.removeEventListener('scroll', onScroll)
    }
  }, [scrollRef])
  const lastKey = content.at(-1)?.key
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new entry at the end is the news.
  useLayoutEffect(() => {
    const scroller = scrollRef.current
    if (isStuck.current && scroller) scroller.scrollTop = scroller.scrollHeight
    else setNews(true)
  }, [lastKey])
  return { isAtEnd, hasNews, toEnd }
}
