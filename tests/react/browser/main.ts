import { createElement } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { createClient, type ThreadSnapshot } from '../../../src/client/index.ts'
import { App } from './app.ts'

// Both are names of the page: what it was given along with this script, and where it is to be shown.
declare const given: { readonly url: string; readonly initial?: ThreadSnapshot }
declare const root: Element

const client = createClient({ url: given.url, token: 'secret' })
const app = createElement(App, { client, initial: given.initial })
if (given.initial) hydrateRoot(root, app)
else createRoot(root).render(app)
