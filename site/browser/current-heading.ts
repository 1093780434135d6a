/** Marks in the contents of the page the heading under which somebody reads. */
export function markCurrentHeading(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.contents a')]
  const headings = links.flatMap((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))) ?? [])
  if (headings.length === 0) return
  const mark = () => {
    // The last one above a line somewhat below the top, which is where eyes are.
    const line = Math.min(220, window.innerHeight / 3)
    const at = headings.findLastIndex((heading) => heading.getBoundingClientRect().top < line)
    for (const [position, link] of links.entries()) setCurrent(link, position === at)
  }
  let isAsked = false
  const later = () => {
    if (isAsked) return
    isAsked = true
    requestAnimationFrame(() => {
      isAsked = false
      mark()
    })
  }
  window.addEventListener('scroll', later, { passive: true })
  mark()
}

function setCurrent(link: HTMLAnchorElement, isCurrent: boolean): void {
  if (link.hasAttribute('aria-current') === isCurrent) return
  if (!isCurrent) return link.removeAttribute('aria-current')
  link.setAttribute('aria-current', 'location')
  keepInView(link)
}

/** Scrolls the list that a link stands in, and never the page. */
export function keepInView(link: HTMLAnchorElement): void {
  const frame = link.closest<HTMLElement>('nav')
  if (!frame) return
  const [inner, outer] = [link.getBoundingClientRect(), frame.getBoundingClientRect()]
  if (inner.top < outer.top) frame.scrollTop -= outer.top - inner.top + 40
  else if (inner.bottom > outer.bottom) frame.scrollTop += inner.bottom - outer.bottom + 40
}
