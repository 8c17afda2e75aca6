import { enableCompileCache } from 'node:module';

// Node strips the types from every file that it loads. From the second start on it finds that done, which halves the
// time to the first answer. It has to be switched on before anything else is loaded.
enableCompileCache();
const { main } = await import('./main.ts');
await main();
