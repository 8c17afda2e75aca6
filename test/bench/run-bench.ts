/**
 * `npm run bench` prints the tables of the README. Give names (`request-path`, `cold-start`, `invoke`, `streams`) to run only some
 * of them. The benchmarks run on loopback, one after the other, for a limited time. Figures are medians.
 */
import { availableParallelism, cpus } from 'node:os';
import { benchColdStart } from './cold-start.ts';
import { benchInvoke } from './invoke.ts';
import { benchRequestPath } from './request-path.ts';
import { benchStreams } from './streams.ts';

const benches = {
  'request-path': () => benchRequestPath(7, 3),
  'cold-start': () => benchColdStart(7),
  invoke: () => benchInvoke({ connections: [1, 8, 16, 32], rounds: 3, seconds: 3, delayMs: 0 }),
  streams: () => benchStreams(3, 2),
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}`);
console.log(`Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown CPU'}`);
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length === 0 || wanted.includes(name)) await bench();
}
