import { createClient } from 'holdfast/client'
import { HoldfastProvider } from 'holdfast/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import './style.css'

// Without a token: the cookie of the app's own login says who is asking. A handler has no WebSocket, so logs come by SSE.
const client = createClient({ url: `${location.origin}/holdfast`, transport: 'sse' })

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <HoldfastProvider client={client}>
        <App />
      </HoldfastProvider>
    </StrictMode>,
  )
}
