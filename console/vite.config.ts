import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  root: at('.'),
  // Relative, because the server may be mounted under any path; the page says by its base where that is.
  base: './',
  plugins: [react(), tailwindcss()],
  resolve: {
    alias: { 'holdfast/client': at('../src/client/index.ts'), 'holdfast/react': at('../src/react/index.ts') },
  },
  build: {
    outDir: at('../dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    // Nothing is put inline: the policy of the page allows files of its own server alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // It is one file on purpose, and a test holds how much all of it weighs, compressed.
    chunkSizeWarningLimit: 1000,
    // The notices of the packages in it, which their licences ask for. It is published beside the bundle and not served.
    license: { fileName: 'licences.md' },
  },
})
