/**
 * `npm run test:hostile`: callers, receivers and machines at their worst, one scenario at a time, against the service
 * as a process of its own. While a scenario runs, another caller's reads are timed and the memory of service and
 * database is sampled. Prints the figures; exit code 1 when one is beyond its limit. Loopback only.
 *
 *     npm run test:hostile                                  all scenarios on the engine that a newcomer gets
 *     npm run test:hostile -- --engine secantusd-rs NAME …  some of them on another engine
 *
 * Each file in `scenarios/` exports `scenarios`. A scenario starts what it needs through its `World`, does its worst for
 * a bounded time, and returns figures. Times are those of a quiet machine.
 */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { engineIdSchema } from '../../src/db/embedded/engines.ts';
import { createWorld, type Figure, type Scenario } from './hostile-world.ts';

const folder = path.join(import.meta.dirname, 'scenarios');
const files = (await readdir(folder)).sort();
const scenarios = (
  await Promise.all(files.map((file) => import(path.join(folder, file)) as Promise<{ scenarios: readonly Scenario[] }>))
).flatMap((module) => module.scenarios);

const { values, positionals } = parseArgs({
  options: { engine: { type: 'string', default: 'secantusd-py' } },
  allowPositionals: true,
});
const engine = engineIdSchema.parse(values.engine);

function isWithin({ value, atMost, atLeast }: Figure): boolean {
  return value <= (atMost ?? Infinity) && value >= (atLeast ?? -Infinity);
}

function show(figure: Figure): string {
  const { name, value, unit = '', atMost, atLeast } = figure;
  const limits = [
    ...(atMost === undefined ? [] : [`at most ${atMost}`]),
    ...(atLeast === undefined ? [] : [`at least ${atLeast}`]),
  ];
  const limit = limits.length === 0 ? '' : ` (${limits.join(', ')})`;
  return `    ${isWithin(figure) ? ' ' : '✗'} ${name}: ${Number(value.toFixed(1))}${unit === '' ? '' : ` ${unit}`}${limit}`;
}

async function attempt(scenario: Scenario): Promise<boolean> {
  const started = performance.now();
  const world = createWorld(engine);
  console.log(`${scenario.name}: ${scenario.about}`);
  let passed = false;
  try {
    const figures = await scenario.run(world);
    if (typeof figures === 'string') console.log(`    skipped: ${figures}`);
    else for (const figure of figures) console.log(show(figure));
    passed = typeof figures === 'string' || figures.every(isWithin);
  } catch (error) {
    console.log(`    broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    await world.close();
  }
  console.log(`  ${passed ? 'passed' : 'FAILED'}, ${Math.round((performance.now() - started) / 1_000)} s`);
  return passed;
}

const names = scenarios.map(({ name }) => name);
const unknown = positionals.filter((name) => !names.includes(name));
if (unknown.length > 0) console.log(`Unknown: ${unknown.join(', ')}. There are: ${names.join(', ')}.`);
console.log(`${engine}, Node ${process.version}`);
let isFine = unknown.length === 0;
for (const scenario of isFine ? scenarios : []) {
  if (positionals.length > 0 && !positionals.includes(scenario.name)) continue;
  isFine = (await attempt(scenario)) && isFine;
}
console.log(isFine ? 'Nobody stopped the others.' : 'FAILED');
process.exit(isFine ? 0 : 1);
