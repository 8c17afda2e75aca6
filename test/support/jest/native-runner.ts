import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { cpuSecondsOf } from '../cpu-time.ts';
import { pidVariableOf } from '../database.ts';
import { takeRecordedAnswers } from '../recorded-answers.ts';
import { isNightly } from '../run-settings.ts';
import type { CpuTime } from './cpu-reporter.ts';
import { beginCoverage, storeCoverage, swapMutant } from './mutation.ts';

/** The part of Jest's module loader that Jest's runner uses and that differs here. */
interface Runtime {
  requireInternalModule(path: string): unknown;
  unstable_shouldLoadAsEsm(path: string): boolean;
  unstable_importModule(path: string): Promise<unknown>;
  setGlobalsForRuntime(globals: object): void;
}

const require = createRequire(import.meta.url);
const circus = require('jest-circus/runner') as { default(...parameters: unknown[]): Promise<object> };
const globalsModule = new URL('globals.ts', import.meta.url).href;
let filesRun = 0;
const clocks = { wall: Date.now, monotonic: performance.now };

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: globalsModule, shortCircuit: true } : next(specifier, context),
});

swapMutant();

/**
 * Jest's `testRunner`. It runs a test file with Jest's own runner, but Node loads the modules. Jest would load them
 * again for each file: more than two seconds of CPU for the service, its packages and the validators of the contract.
 * Here each worker process loads them once. This requires modules without state.
 */
export default async function runTestFile(
  globalConfig: unknown,
  config: unknown,
  environment: unknown,
  runtime: Runtime,
  testPath: string,
  sendMessageToJest: unknown,
): Promise<unknown> {
  const native: Runtime = Object.assign(Object.create(runtime) as Runtime, {
    requireInternalModule: loadAnew,
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path: string) => import(`${pathToFileURL(path).href}?run=${(filesRun += 1)}`),
    setGlobalsForRuntime: (globals: object) => {
      Reflect.set(globalThis, Symbol.for('globals of the test file'), globals);
    },
  });
  const environmentBefore = { ...process.env };
  if (isNightly || testPath.includes('/test/contract/')) process.env['SECOND_OPINION'] = 'on';
  await beginCoverage();
  const cpuBefore = cpuTime();
  try {
    const result = await circus.default(globalConfig, config, environment, native, testPath, sendMessageToJest);
    requireOwnClocks();
    const cpu = since(cpuBefore);
    const passed = 'numFailingTests' in result && result.numFailingTests === 0;
    await storeCoverage(testPath, passed, cpu.tests + cpu.children + cpu.database);
    return { ...result, answers: takeRecordedAnswers(), cpu };
  } finally {
    for (const name of Object.keys(process.env)) {
      if (environmentBefore[name] === undefined) Reflect.deleteProperty(process.env, name);
    }
    Object.assign(process.env, environmentBefore);
  }
}

/** @throws if the file left a clock of its own behind, which would stop the clock of every later file of this process */
function requireOwnClocks(): void {
  const isChanged = Date.now !== clocks.wall || performance.now !== clocks.monotonic;
  Date.now = clocks.wall;
  performance.now = clocks.monotonic;
  if (isChanged) throw new Error('The tests of this file changed Date.now or performance.now and did not restore it.');
}

/** The part of the runner that collects and runs tests has state in its module and in a global. */
function loadAnew(path: string): unknown {
  Reflect.deleteProperty(require.cache, path);
  Reflect.deleteProperty(globalThis, Symbol.for('EVENT_HANDLERS'));
  return require(path);
}

/** The CPU time of this worker process so far. */
function cpuTime(): CpuTime {
  const { own, children } = cpuSecondsOf(process.pid);
  const server = process.env[pidVariableOf(process.env['JEST_WORKER_ID'] ?? '')];
  return { tests: own, children, database: server === undefined ? 0 : cpuSecondsOf(server).own };
}

function since(before: CpuTime): CpuTime {
  const now = cpuTime();
  return {
    tests: now.tests - before.tests,
    children: now.children - before.children,
    database: now.database - before.database,
  };
}
