import react from '@vitejs/plugin-react';
import { defineConfig, type UserConfig } from 'vite';

/** Where `npm run dev` finds the service. */
const service = 'http://127.0.0.1:8080';

const config: UserConfig = defineConfig({
  // The service writes a `<base>` into the page, so the same files work below any path of a proxy.
  base: './',
  plugins: [react()],
  build: {
    target: 'es2023',
    modulePreload: { polyfill: false },
    // Nothing inline: the page's policy allows scripts, fonts and images of its own origin only.
    assetsInlineLimit: 0,
    // The service finds the page there, and npm ci empties the folder.
    outDir: '../../dist/dashboard',
    emptyOutDir: true,
    manifest: true,
    // `npm run sizes` judges the sizes as they are sent.
    chunkSizeWarningLimit: 1_000,
  },
  server: { proxy: { '/api': service, '/v1': service, '/health': service, '/asyncapi.json': service } },
});

export default config;
