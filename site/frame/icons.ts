import { type Html, raw } from '../html.ts'

function icon(paths: string): Html {
  return raw(
    `<svg viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.9" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`,
  )
}

/** A holdfast: what keeps kelp on its rock. */
export const mark = raw(
  '<svg class="mark" viewBox="0 0 32 32" width="24" height="24" fill="none" stroke="currentColor" stroke-width="2.6" stroke-linecap="round" aria-hidden="true"><path d="M16 3v15M16 18c0 4.5-3.5 8-9 8.5M16 18c0 4.5 3.5 8 9 8.5M16 18v11"/><path d="M16 12.5c-4 0-7-1.8-7-5.5M16 12.5c4 0 7-1.8 7-5.5"/></svg>',
)

export const menuIcon = icon('<path d="M4 6h16M4 12h16M4 18h16"/>')

export const searchIcon = icon('<circle cx="11" cy="11" r="7"/><path d="m20 20-4-4"/>')

/** A screen, a sun, a moon: as the system has it, light, dark. The style shows the one that counts. */
export const themeIcons: readonly Html[] = [
  icon('<g class="auto"><rect x="3" y="4" width="18" height="12" rx="2"/><path d="M8 20h8M12 16v4"/></g>'),
  icon(
    '<g class="light"><circle cx="12" cy="12" r="4"/><path d="M12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4"/></g>',
  ),
  icon('<g class="dark"><path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z"/></g>'),
]
