import { createClient } from 'holdfast/client'
import { HoldfastProvider } from 'holdfast/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import './design/tokens.css'
import { heedNotice, heedRetry } from './live-lines.ts'
import { LoginGate } from './login/login-gate.tsx'
import { apiUrl } from './place.ts'

const client = createClient({ url: apiUrl, onNotice: heedNotice })
// After the client, which listens as well: by then it is ready to try.
addEventListener('online', heedRetry)
const root = document.getElementById('root')
if (!root) throw new Error('The page has no element #root')

createRoot(root).render(
  <StrictMode>
    <HoldfastProvider client={client}>
      <LoginGate>
        <App />
      </LoginGate>
    </HoldfastProvider>
  </StrictMode>,
)
