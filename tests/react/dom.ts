import { Window } from 'happy-dom'

// A document for React, and nothing else of a browser: the server that the hooks talk to runs in this process as well, and needs
// the requests and responses of Node. Imported before anything of React, which looks for a document when it is loaded.
const window = new Window({ url: 'http://page.test/' })
const { HTMLElement, Element, Node, MutationObserver } = window

export const { document } = window

Object.assign(globalThis, { window, document, HTMLElement, Element, Node, MutationObserver })
