/** The work on an evaluation that runs: asks its cases, stores the results, decides. */
import type { Clock } from '../../../base/runtime/clock.ts';
import { toJsonText } from '../../../base/runtime/json-text.ts';
import { within } from '../../../base/runtime/within.ts';
import type { Case } from '../datasets/dataset.ts';
import type { Datasets } from '../datasets/datasets.ts';
import { verdict } from '../verdict/verdict.ts';
import { askSide, type AskedSide } from './ask-side.ts';
import { plus, type AskDependencies, type AskTerms } from './attempt.ts';
import { casesInOrder } from './case-order.ts';
import { toRule, type Evaluation } from './evaluation.ts';
import { inOrder } from './in-order.ts';
import { codeOf, outcomeOf } from './outcomes.ts';
import { createResultWriter, LeaseLostError, type AskedCase, type WriterDependencies } from './result-writer.ts';

export interface RunDependencies extends AskDependencies, WriterDependencies {
  readonly datasets: Pick<Datasets, 'part'>;
  readonly clock: Clock;
  /** How long results wait at most until they are stored, in milliseconds. */
  readonly storeEveryMs: number;
}

/** Results that become one object: of so many cases, or of so many bytes. */
const mostCases = 100;
const mostBytes = 1024 * 1024;

/**
 * Goes on behind the results that count, until all cases have one, and ends the evaluation with its verdict.
 *
 * @param lease of this process
 * @throws {LeaseLostError}
 * @throws What ends the evaluation otherwise: see `askSide`, and the reason of `terms.signal`. What was stored before
 *   counts, and no call is in progress any more.
 */
export async function runEvaluation(
  evaluation: Evaluation,
  lease: string,
  terms: AskTerms,
  dependencies: RunDependencies,
): Promise<void> {
  const { rule, baseline } = evaluation;
  const { signal } = terms;
  const writer = await createResultWriter(evaluation, lease, signal, dependencies);
  const asking = askAll(evaluation, writer.casesDone, terms, {
    ...dependencies,
    datasets: { part: (...of) => writer.persistently(() => dependencies.datasets.part(...of)) },
  });
  try {
    for (let isDone = false; !isDone;) {
      const { asked, ...end } = await gather(asking.results, dependencies);
      if (!('error' in end) || !signal.aborted) await writer.write(asked);
      if ('error' in end) throw end.error;
      ({ isDone } = end);
    }
  } finally {
    await asking.stop();
  }
  const counts = writer.sums().counts(baseline !== undefined);
  const { cases: units, errors, passed, regressed, improved } = counts;
  const decided = verdict(toRule(rule), counts);
  await writer.end({
    ...decided,
    ...{ units, errors, passed },
    ...(baseline !== undefined && { regressed, improved }),
  });
  const said = { evaluation: evaluation.id, outcome: decided.outcome, units, errors };
  dependencies.log.info(said, 'an evaluation ended');
}

/** Results of cases in their order. `next` has begun already. */
interface Results {
  next: Promise<IteratorResult<AskedCase, void>>;
  pull(): void;
}

/** The results that become the next object, and whether they are the last; or why there are no more. */
async function gather(
  results: Results,
  { clock, storeEveryMs }: Pick<RunDependencies, 'clock' | 'storeEveryMs'>,
): Promise<{ asked: AskedCase[] } & ({ isDone: boolean } | { error: unknown })> {
  const asked: AskedCase[] = [];
  let bytes = 0;
  let until = clock.monotonic() + storeEveryMs;
  while (asked.length < mostCases && bytes < mostBytes) {
    try {
      const got = await within(Math.max(0, until - clock.monotonic()), results.next, () => undefined);
      if (got === undefined) {
        if (asked.length > 0) break;
        until = clock.monotonic() + storeEveryMs;
        continue;
      }
      if (got.done === true) return { asked, isDone: true };
      asked.push(got.value);
      bytes += got.value.line.length;
      results.pull();
    } catch (error) {
      return { asked, error };
    }
  }
  return { asked, isDone: false };
}

/** Asks cases, some at the same time. @param from how many are left out at the beginning */
function askAll(
  evaluation: Evaluation,
  from: number,
  terms: AskTerms,
  dependencies: RunDependencies,
): { readonly results: Results; stop(): Promise<void> } {
  /** Why no more calls begin. */
  let stopped: unknown;
  const gated: AskTerms = {
    ...terms,
    async enter(provider) {
      const leave = await terms.enter(provider);
      if (stopped === undefined) return leave;
      leave();
      throw stopped;
    },
  };
  const ask = async (one: Case): Promise<AskedCase> => {
    try {
      return await askCase(evaluation, one, gated, dependencies);
    } catch (error) {
      stopped ??= error;
      throw error;
    }
  };
  const answers = inOrder(casesInOrder(evaluation, from, dependencies.datasets, terms.signal), ask, terms.casesAtOnce);
  const results: Results = {
    next: answers.next(),
    pull() {
      results.next = answers.next();
      // It is awaited later, when what came before is stored.
      results.next.catch(() => undefined);
    },
  };
  results.next.catch(() => undefined);
  return {
    results,
    async stop() {
      stopped ??= new LeaseLostError();
      await answers.return();
    },
  };
}

/** Asks both sides about a case, at about the same time. */
async function askCase(
  evaluation: Evaluation,
  one: Case,
  terms: AskTerms,
  dependencies: RunDependencies,
): Promise<AskedCase> {
  const { candidate, baseline } = evaluation;
  const { id, group } = one;
  if (one.erased)
    return { code: 'x', group, line: JSON.stringify({ case: id, outcome: 'erased' }), cost: 0n, problems: [] };
  const [asked, before] = await bothOf(
    askSide(evaluation, candidate, one, terms, dependencies),
    baseline && askSide(evaluation, baseline, one, terms, dependencies),
  );
  const code = codeOf(asked, before);
  const { text: line } = toJsonText({
    case: id,
    ...(group !== undefined && { group }),
    outcome: outcomeOf(code, before !== undefined),
    candidate: asked.result,
    ...(before !== undefined && { baseline: before.result }),
  });
  const sides = before === undefined ? [asked] : [asked, before];
  return {
    ...{ code, group, line },
    cost: sides.reduce((sum, one) => plus(sum, one.cost), 0n as AskedCase['cost']),
    problems: sides.flatMap(({ result: { passed, error } }) => (passed === undefined && error ? [error.type] : [])),
  };
}

/** Waits for both, also if one fails. */
async function bothOf(
  one: Promise<AskedSide>,
  other: Promise<AskedSide> | undefined,
): Promise<[AskedSide, AskedSide | undefined]> {
  await Promise.allSettled([one, other]);
  return [await one, await other];
}
