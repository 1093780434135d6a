import { type Html, html } from '../html.ts'
import type { Heading, Page } from '../page.ts'
import { between } from '../places.ts'
import { mark, menuIcon, searchIcon, themeIcons } from './icons.ts'
import { type Navigation, neighbours, sidebar } from './navigation.ts'

export const files = {
  style: 'assets/site.css',
  theme: 'assets/theme.js',
  script: 'assets/site.js',
  index: 'assets/search-index.js',
  icon: 'assets/favicon.svg',
} as const

/** A page as a file: what it says, and around it what is on every page. All links are relative. */
export function framed(page: Page, navigation: Navigation, version: string): string {
  const to = (place: string) => between(page.place, place)
  const title = page.place === 'index.html' ? 'Holdfast' : `${page.title} · Holdfast`
  return html`<!doctype html>
<html lang="en" data-root="${to('index.html').replace(/index\.html$/, '')}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${to(files.icon)}">
<link rel="stylesheet" href="${to(files.style)}">
<script src="${to(files.theme)}"></script>
<script defer src="${to(files.script)}" data-index="${to(files.index)}"></script>
</head>
<body>
<a class="skip" href="#site-content">Skip to the content</a>
${header(to('index.html'))}
<div class="columns">
<nav id="site-menu" class="menu" popover aria-label="Pages">
${sidebar(navigation, page)}
<p class="version">Holdfast ${version}</p>
</nav>
${contents(page.contents)}
<main id="site-content" tabindex="-1">
<article>
${page.body}
</article>
${neighbours(navigation, page)}
</main>
</div>
</body>
</html>
`.html
}

function header(home: string): Html {
  return html`<header class="top">
<button class="icon-button menu-button" type="button" popovertarget="site-menu" aria-label="Pages">${menuIcon}</button>
<a class="home" href="${home}" aria-label="Holdfast, the first page">${mark}<span>Holdfast</span></a>
<div class="search" role="search" hidden>
${searchIcon}
<input id="site-search" type="text" enterkeyhint="search" placeholder="Search" autocomplete="off" spellcheck="false" role="combobox" aria-label="Search the documentation" aria-expanded="false" aria-controls="site-results" aria-autocomplete="list">
<kbd aria-hidden="true">/</kbd>
<div id="site-results" class="results" role="listbox" aria-label="Results" hidden></div>
<p class="search-note" role="status" hidden></p>
</div>
<button class="icon-button theme-button" type="button" hidden>${themeIcons}</button>
</header>`
}

/** What is on the page: beside it where there is room, else above it and folded. */
function contents(headings: readonly Heading[]): Html | undefined {
  if (headings.length < 2) return undefined
  return html`<nav class="contents" aria-label="On this page">
<details>
<summary>On this page</summary>
<ul>
${headings.map(({ id, text, depth }) => html`<li class="depth-${depth}"><a href="#${id}">${text}</a></li>\n`)}</ul>
</details>
</nav>`
}
