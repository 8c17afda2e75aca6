/**
 * `npm run program -- test:faults:webhooks` places orders at two service processes while processes and database are killed,
 * answers are lost, a process is suspended, clocks differ and receivers misbehave. It prints counts, and ends with exit
 * code 1 if anything was lost, duplicated or settled wrongly. It uses loopback only and takes at most twenty minutes; with
 * `--quick`, five. Give names of scenarios to run only those, and `--outages 300` for another time without the database.
 */
import { parseArgs } from 'node:util';
import { fastEngine, startDatabaseServer } from '../../support/database-server.ts';
import { silentLog } from '../../support/log.ts';
import { misbehavingReceivers } from './misbehaving.ts';
import {
  joinAndLeave,
  killDatabases,
  killServices,
  loseAnswers,
  loseDatabase,
  skewClocks,
  stopWorker,
  takeOver,
  type ScenarioResult,
} from './scenarios.ts';
import { faultTiming } from './timing.ts';
import { isSound, type Findings } from './verify.ts';

const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rate: { type: 'string' },
    outages: { type: 'string' },
  },
  allowPositionals: true,
});
const times = values.quick
  ? {
      serviceKills: 2,
      takeovers: 1,
      databaseKills: 1,
      lossySeconds: 4,
      stops: 1,
      skewSeconds: 0,
      joins: 1,
      outages: [3],
      rounds: 1,
    }
  : {
      serviceKills: 30,
      takeovers: 3,
      databaseKills: 10,
      lossySeconds: 40,
      stops: 6,
      skewSeconds: 15,
      joins: 4,
      outages: [3, 30],
      rounds: 5,
    };

/** After a kill, events wait at most this long for another process. Most are not affected: if they wait too, the machine is saturated. */
const takeover = { longest: 12_000, p50: 1_000 };
/** Orders per second, at which two cores have time to spare. */
const takeoverRate = 10;

const database = await startDatabaseServer(fastEngine, silentLog);
const settings = {
  databaseUri: database.uri,
  rate: Number(values.rate ?? (values.quick ? 30 : 100)),
  ordersBetweenFaults: values.quick ? 30 : 100,
};

function describe({ violations, delay, feedDelay, ...counts }: Findings): string {
  const named = (numbers: Readonly<Record<string, number>>): string =>
    Object.entries(numbers)
      .map(([name, count]) => `${count} ${name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`)
      .join(', ');
  const times = ({ p50, p95, p99, longest }: Findings['delay']): string =>
    `${p50} ms p50, ${p95} ms p95, ${p99} ms p99, ${longest} ms at most`;
  return `  ${named({ ...violations })}\n  (${named({ ...counts })};\n  first arrival after ${times(delay)}; in the feed after ${times(feedDelay)})`;
}

/** @param limits milliseconds for the first arrival of an event, if they are measured */
async function judge(
  title: (faults: number) => string,
  run: () => Promise<ScenarioResult>,
  limits: { readonly longest: number; readonly p50: number } = { longest: Infinity, p50: Infinity },
): Promise<boolean> {
  const { faults, findings } = await run();
  console.log(`${title(faults)}:\n${describe(findings)}`);
  const isPrompt = findings.delay.longest <= limits.longest && findings.delay.p50 <= limits.p50;
  return isSound(findings) && faults > 0 && isPrompt;
}

const scenarios: Readonly<Record<string, () => Promise<boolean>>> = {
  'service-kills': () =>
    judge(
      (kills) => `kill -9 of one of two service processes, ${kills} times`,
      () => killServices(settings, times.serviceKills, false),
    ),
  'all-kills': () =>
    judge(
      (kills) => `kill -9 of both service processes at the same moment, ${kills} times`,
      () => killServices(settings, times.serviceKills, true),
    ),
  takeover: () =>
    judge(
      (kills) => `kill -9 of one of two service processes with the ordinary times, ${kills} times`,
      () => takeOver({ ...settings, rate: Number(values.rate ?? takeoverRate) }, times.takeovers),
      takeover,
    ),
  'database-kills': () =>
    judge(
      (kills) => `kill -9 of the database, ${kills} times`,
      () => killDatabases(settings, times.databaseKills, database.pid),
    ),
  'lost-answers': () =>
    judge(
      (lost) => `${lost} answers, requests and confirmations of the database lost`,
      () => loseAnswers(settings, times.lossySeconds),
    ),
  'stopped-worker': () =>
    judge(
      (takenOver) =>
        `one process stopped for longer than its lease ${times.stops} times, ${takenOver} partitions taken over`,
      () => stopWorker(settings, times.stops, faultTiming.lease),
    ),
  'skewed-clocks': () =>
    judge(
      (kills) => `clocks 60 s apart, with ${kills} kills`,
      () => skewClocks(settings, times.skewSeconds),
    ),
  'joins-and-leaves': () =>
    judge(
      (moved) => `a third process joined and left under load, ${times.joins} times, ${moved} partitions moved`,
      () => joinAndLeave(settings, times.joins),
    ),
  'database-away': async () => {
    let passed = true;
    for (const seconds of values.outages?.split(',').map(Number) ?? times.outages) {
      passed &&= await judge(
        () => `the database away for ${seconds} s`,
        () => loseDatabase(settings, seconds),
      );
    }
    return passed;
  },
  'misbehaving-receivers': () => misbehavingReceivers(settings, times.rounds),
};

/** Scenarios that do not touch the database and measure no times. */
const sociable: ReadonlySet<string> = new Set(['service-kills', 'lost-answers', 'stopped-worker', 'skewed-clocks']);

async function attempt(name: string): Promise<boolean> {
  const started = performance.now();
  const passed = await scenarios[name]?.().catch((error: unknown) => {
    console.log(`${name} broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return false;
  });
  console.log(
    `  ${name}: ${passed === true ? 'passed' : 'FAILED'}, ${Math.round((performance.now() - started) / 1_000)} s`,
  );
  return passed === true;
}

console.log(`${database.engine}, Node ${process.version}, ${settings.rate} orders/s wanted`);
const unknown = positionals.filter((name) => scenarios[name] === undefined);
if (unknown.length > 0) console.log(`Unknown: ${unknown.join(', ')}. There are: ${Object.keys(scenarios).join(', ')}.`);
let isFine = unknown.length === 0;
try {
  const wanted = Object.keys(scenarios).filter(
    (name) => isFine && (positionals.length === 0 || positionals.includes(name)),
  );
  // A scenario mostly waits for leases to end. Scenarios that disturb no others wait together.
  const together = values.quick ? wanted.filter((name) => sociable.has(name)) : [];
  const groups = [together, ...wanted.filter((name) => !together.includes(name)).map((name) => [name])];
  for (const group of groups) {
    const outcomes = await Promise.all(group.map(attempt));
    isFine &&= !outcomes.includes(false);
  }
} finally {
  await database.stop();
}
console.log(isFine ? 'Nothing was lost, doubled or settled wrongly.' : 'FAILED');
process.exit(isFine ? 0 : 1);
