import { enableCompileCache } from 'node:module';

// `npm start` and the image limit the young generation to 8 MiB. Under load V8 would let it grow to several times that:
// 50 to 100 MiB of memory for one percent of CPU. With half of it, objects of requests in progress become old too early.

// Node removes the types from every file that it loads. This cache keeps the result for later starts, which halves the
// time to the first answer. It must be enabled before anything else is loaded.
enableCompileCache();
const { isBuiltForContract } = await import('./built-for.ts');
if (!(await isBuiltForContract())) {
  process.stderr.write('The validators of this contract are not built. Run npm ci, or npm run prepare.\n');
  process.exit(1);
}
const { main } = await import('./main.ts');
await main();
