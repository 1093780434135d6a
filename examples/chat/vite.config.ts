import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  // Holdfast is linked here, and would bring the React of its own folder. With a version from npm this can go.
  resolve: { dedupe: ['react', 'react-dom'] },
  build: { target: 'es2023' },
})
