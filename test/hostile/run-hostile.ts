/**
 * `npm run test:hostile` runs scenarios of hostile callers, receivers and machines, one at a time, against the service
 * in its own process. During a scenario it measures the reads of another caller, and samples the memory of service and
 * database. It prints the figures, and ends with exit code 1 if one exceeds its limit. It uses loopback only.
 *
 *     npm run test:hostile                                  all scenarios on the default engine
 *     npm run test:hostile -- --engine mongod NAME …        some of them on another engine
 *
 * Each file in `scenarios/` exports `scenarios`. A scenario starts what it needs through its `World`, attacks for a
 * limited time, and returns figures. The limits are for a machine without other load.
 */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { engineIdSchema } from '../../src/storage/db/embedded/engines.ts';
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
