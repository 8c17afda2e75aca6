/**
 * `npm run program -- mutants --seed 7` plants faults in `src/`, one at a time, and says which of them no test finds.
 *
 * A run of the tests with V8's function coverage says which test files call which function. The files that call the
 * function of a fault and pass without it run, the cheapest first, until one fails. That counts if it fails a second time.
 * The fault is in the text that Node loads (`test/support/jest/mutation.ts`), never in the working tree; processes that a
 * test starts do not have it. The coverage is kept for other seeds until a file of `src/` or `test/` changes.
 *
 *     --seed N            which faults; the same seed plants the same ones in the same code
 *     --count 60          how many
 *     --from src/orders   in which code (several are separated by commas)
 *     --covered-by FILES  only functions that these test files call
 *     --tests test/orders only these tests (an argument of Jest; all by default)
 *     --save FILE         stores the faults, for a comparison with another commit
 *     --load FILE         plants these; a fault whose text is not there any more is reported as gone
 *     --minutes 40        of CPU, all in all
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { cpuSecondsOf } from '../support/cpu-time.ts';
import { coverageVariable, mutantVariable, type Coverage } from '../support/jest/mutation.ts';
import { findMutants, kinds, type Mutant, type Place } from './mutants.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '60' },
    from: { type: 'string', default: 'src/' },
    'covered-by': { type: 'string' },
    tests: { type: 'string' },
    save: { type: 'string' },
    load: { type: 'string' },
    minutes: { type: 'string', default: '40' },
  },
});
const root = path.resolve(import.meta.dirname, '../..');
const cache = path.join(root, 'node_modules/.cache/mutants');
/** For the tests of one fault, in CPU seconds. */
const mostSeconds = 60;
const allSeconds = Number(values.minutes) * 60;

/** How a run of tests ended. */
type Outcome = 'passed' | 'failed' | 'timed out';

/** CPU seconds of all runs that have ended. */
const used = (): number => cpuSecondsOf(process.pid).children;

/** Runs test files in one process, and ends it when it used too much. @returns also the file that failed first */
async function runTests(
  files: readonly string[],
  environment: Readonly<Record<string, string>>,
  { cpuSeconds = Infinity, wallSeconds = Infinity, inBand = true } = {},
): Promise<{ readonly outcome: Outcome; readonly failed: string | undefined }> {
  const command = [
    path.join(root, 'node_modules/jest/bin/jest.js'),
    ...['--silent', '--color=false'],
    ...(inBand ? ['--runInBand', '--bail', '--testTimeout=60000', '--runTestsByPath'] : []),
    ...files,
  ];
  const env = { ...process.env, ...(inBand ? { TEST_ORDER: files.join(',') } : {}), ...environment };
  const child = spawn(process.execPath, command, {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  let report = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (report += text));
  const { pid } = child;
  if (pid === undefined) throw new Error('Jest does not start.');
  const begun = performance.now();
  let isLate = false;
  const end = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-pid, signal);
    } catch {
      // It has ended.
    }
  };
  const stop = (): void => end('SIGKILL');
  process.once('exit', stop);
  const watch = setInterval(() => {
    const { own, children } = cpuSecondsOf(pid);
    if (isLate || (own + children < cpuSeconds && performance.now() - begun < wallSeconds * 1_000)) return;
    isLate = true;
    end('SIGTERM');
    // A loop without an end handles no signal.
    setTimeout(end, 5_000, 'SIGKILL').unref();
  }, 500);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearInterval(watch);
  process.off('exit', stop);
  stop();
  if (isLate) return { outcome: 'timed out', failed: undefined };
  if (code === 0) return { outcome: 'passed', failed: undefined };
  return { outcome: 'failed', failed: /^FAIL (\S+)/m.exec(report)?.[1] };
}

/** Which functions each test file calls. */
async function readMap(): Promise<Coverage[]> {
  const hash = createHash('sha256').update(values.tests ?? '');
  const files = globSync('{src,test}/**/*.{ts,mjs}', { cwd: root }).toSorted();
  for (const file of files) hash.update(file).update(readFileSync(path.join(root, file)));
  const folder = path.join(cache, hash.digest('hex').slice(0, 16));
  if (!existsSync(folder)) {
    rmSync(cache, { recursive: true, force: true });
    mkdirSync(`${folder}.new`, { recursive: true });
    const tests = values.tests === undefined ? [] : values.tests.split(',');
    const { outcome } = await runTests(tests, { [coverageVariable]: `${folder}.new` }, { inBand: false });
    if (outcome !== 'passed') console.log('Some tests fail without a fault; their files find none.');
    renameSync(`${folder}.new`, folder);
  }
  return readdirSync(folder).map((name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Coverage);
}

/** The test files that call a function, the cheapest first. V8 gives the place of its parameters, or of its name. */
function callersOf(file: string, { start, body, end }: Place, map: readonly Coverage[]): Coverage[] {
  const isIt = ([from, to]: readonly [number, number]): boolean => to === end && from >= start && from <= body;
  return map
    .filter(({ passed, functions }) => passed && functions[file]?.some(isIt))
    .toSorted((a, b) => a.cpuSeconds - b.cpuSeconds);
}

type Placed = Mutant & { readonly place: Place };

function mutantsOf(file: string): Placed[] {
  return findMutants(file, readFileSync(path.join(root, file), 'utf8'));
}

/** Numbers of a seed, from 0 to below 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Chooses faults of all kinds by turns. */
function choose(map: readonly Coverage[]): Placed[] {
  const by = values['covered-by']?.split(',');
  const from = values.from.split(',');
  const callers = by === undefined ? undefined : map.filter(({ test }) => by.includes(test));
  const all = globSync('src/**/*.ts', { cwd: root })
    .filter((file) => from.some((part) => file.startsWith(part)) && !file.startsWith('src/codegen/'))
    .toSorted()
    .flatMap(mutantsOf)
    .filter(({ file, place }) => callers === undefined || callersOf(file, place, callers).length > 0);
  const random = randomOf(Number(values.seed));
  const left = kinds.map((kind) => all.filter((mutant) => mutant.kind === kind));
  const chosen: Placed[] = [];
  for (let turn = 0; chosen.length < Number(values.count) && left.some(({ length }) => length > 0); turn += 1) {
    const some = left[turn % left.length] ?? [];
    chosen.push(...some.splice(Math.floor(random() * some.length), 1));
  }
  return chosen;
}

/** Finds the faults of a file of `--save` in the present text, where lines may have moved. */
function load(file: string): (Placed | Mutant)[] {
  const saved = JSON.parse(readFileSync(file, 'utf8')) as Mutant[];
  return saved.map((wanted) => {
    const same = existsSync(path.join(root, wanted.file))
      ? mutantsOf(wanted.file).filter(({ kind, original }) => kind === wanted.kind && original === wanted.original)
      : [];
    return same.toSorted((a, b) => Math.abs(a.start - wanted.start) - Math.abs(b.start - wanted.start))[0] ?? wanted;
  });
}

/** @returns what became of a fault, and the file that found it */
async function tryMutant(mutant: Placed, map: readonly Coverage[]): Promise<string> {
  const { file, start, end, text, place } = mutant;
  const callers = callersOf(file, place, map);
  if (callers.length === 0) return 'survived: no test calls the function';
  const environment = { [mutantVariable]: JSON.stringify({ file, start, end, text }) };
  // Those that take longer together would not be finished.
  let seconds = 0;
  const chosen = callers.filter(({ cpuSeconds }, index) => index === 0 || (seconds += cpuSeconds) < mostSeconds);
  const tests = chosen.map(({ test }) => test);
  const limits = { cpuSeconds: 2 * mostSeconds, wallSeconds: 600 };
  const { outcome, failed } = await runTests(tests, environment, limits);
  if (outcome === 'timed out') return 'timed out';
  if (failed !== undefined && (await runTests([failed], environment, limits)).outcome !== 'passed') {
    return `killed by ${failed}`;
  }
  return `survived: ${failed === undefined ? '' : `${failed} failed once; `}${tests.length} of ${callers.length} files`;
}

// So that the processes of the tests end with this one.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
const map = await readMap();
const mutants = values.load === undefined ? choose(map) : load(values.load);
if (values.save !== undefined) {
  const saved = mutants.map(({ file, kind, line, start, end, text, original }) => ({
    file,
    kind,
    line,
    start,
    end,
    text,
    original,
  }));
  writeFileSync(values.save, `${JSON.stringify(saved, undefined, 1)}\n`);
}
const counts: Record<string, number> = { killed: 0, survived: 0, timed: 0, gone: 0, 'not tried': 0 };
for (const mutant of mutants) {
  const { file, line, kind, original, text } = mutant;
  let result = 'gone';
  if ('place' in mutant) result = used() < allSeconds ? await tryMutant(mutant, map) : 'not tried';
  const sort = Object.keys(counts).find((name) => result.startsWith(name)) ?? '';
  counts[sort] = (counts[sort] ?? 0) + 1;
  const change = `${original} -> ${text}`.replaceAll(/\s+/g, ' ').slice(0, 120);
  console.log(`${result}\n    ${file}:${line} ${kind}: ${change}`);
}
const { timed: late, ...others } = counts;
console.table({ ...others, 'timed out': late, 'CPU seconds': Math.round(used()) });
