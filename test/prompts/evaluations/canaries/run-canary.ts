/**
 * Simulates canaries with the code of the service. `npm run program -- canary [SEED]`
 *
 * - 10,000 canaries of a version that fails exactly as often as the stable one: at most 1 % may be ended. Shares from 0.05 to
 *   0.5 that can grow, failure rates from 1 to 20 %, outages, failures that are repeated and then drawn anew, and two
 *   processes that insert their records into the log now and then and are killed: what they had not inserted, and what they
 *   interrupted, is inserted later by another one. The log is looked at after each insertion.
 * - 2,000 canaries of a version that fails in 10 % of its requests instead of 2 %: how many requests it takes to see it.
 */
import { enoughEvidence, evidence, type Stage } from '../../../../src/prompts/evaluations/canaries/evidence.ts';

type Random = () => number;

/** Mulberry32: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const requests = 20_000;
const shares = [0.05, 0.1, 0.2, 0.3, 0.5];

/** Failures in the log, or on the way there. */
interface Failure {
  readonly share: number;
  readonly isCanary: boolean;
}

function counted(stages: readonly Stage[], { share, isCanary }: Failure): Stage[] {
  const { canary, stable } = stages.find((stage) => stage.share === share) ?? { canary: 0, stable: 0 };
  const next = { share, canary: canary + Number(isCanary), stable: stable + Number(!isCanary) };
  return [...stages.filter((stage) => stage.share !== share), next];
}

/** Whether a canary without a difference is ended. */
function isEnded(random: Random): boolean {
  const among = (from: number, to: number): number => from + (to - from) * random();
  const failureRate = among(0.01, 0.2);
  const [firstShare = 0.05, ...laterShares] = shares.slice(Math.floor(random() * shares.length));
  const growsAfter = random() < 0.3 ? requests * among(0.1, 0.9) : Infinity;
  const [insertsEvery, killedEvery] = [among(1, 300), among(1_000, 20_000)];
  let log: Stage[] = [];
  /** Of both processes, and of those that were killed, until their records are recovered. */
  const waiting: Failure[][] = [[], [], []];
  /** @returns whether the canary ends */
  const insert = (place: number): boolean => {
    const failures = waiting[place] ?? [];
    waiting[place] = [];
    log = failures.reduce(counted, log);
    return failures.length > 0 && evidence(log) >= enoughEvidence;
  };
  let outageUntil = 0;
  let repeats = 0;
  for (let request = 0; request < requests; request += 1) {
    const share = request < growsAfter ? firstShare : (laterShares[0] ?? firstShare);
    if (random() < 1 / 5_000) outageUntil = request + among(10, 500);
    const isRepeated = repeats > 0;
    const rate = request < outageUntil || isRepeated ? 0.9 : failureRate;
    const place = random() < 0.5 ? 0 : 1;
    const isCanary = random() < share;
    if (random() < 1 / killedEvery) {
      waiting[2]?.push(...(waiting[place] ?? []));
      waiting[place] = [];
      for (let open = among(0, 8); open > 0; open -= 1) waiting[2]?.push({ share, isCanary: random() < share });
    }
    if (random() >= rate) {
      repeats = 0;
    } else {
      repeats = isRepeated ? repeats - 1 : random() < 0.3 ? 3 : 0;
      waiting[place]?.push({ share, isCanary });
    }
    for (const one of [0, 1, 2]) if (random() < 1 / insertsEvery && insert(one)) return true;
  }
  return false;
}

/** After how many requests a worse version is seen. */
function requestsUntilSeen(random: Random): number {
  const share = 0.1;
  let stages: Stage[] = [];
  for (let request = 1; ; request += 1) {
    const isCanary = random() < share;
    if (random() >= (isCanary ? 0.1 : 0.02)) continue;
    stages = counted(stages, { share, isCanary });
    if (evidence(stages) >= enoughEvidence) return request;
  }
}

const random = randomFrom(Number(process.argv[2] ?? 1));
const canaries = 10_000;
const ended = Array.from({ length: canaries }, () => isEnded(random)).filter(Boolean).length;
console.log(`Without a difference, ${ended} of ${canaries} canaries were ended. At most ${canaries / 100} may be.`);
const seen = Array.from({ length: 2_000 }, () => requestsUntilSeen(random)).sort((one, next) => one - next);
const [median = Infinity, most = Infinity] = [seen[seen.length / 2], seen[Math.floor(seen.length * 0.95)]];
console.log(`10 % failures instead of 2 % are seen after ${median} requests (median), and ${most} (95 %).`);
if (ended > canaries / 100 || median > 900) process.exitCode = 1;
