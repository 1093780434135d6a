import { addCopyButtons } from './copy-buttons.ts'
import { keepInView, markCurrentHeading } from './current-heading.ts'
import { startSearch } from './search-box.ts'
import { startThemeButton } from './theme-button.ts'

// Everything here is on top of a page that is whole without it.
startThemeButton()
startSearch()
addCopyButtons()
markCurrentHeading()
const current = document.querySelector<HTMLAnchorElement>('.menu a[aria-current]')
if (current) keepInView(current)
