import type { components } from '../../../generated/types.ts';
import { fields, hidden, made, type Difference, type None, type Shown, type Thing } from '../../base/fields/fields.ts';
import { fromAmount, showMoney, type NanoDollars } from '../../base/runtime/money.ts';
import { flag, integer, list, moment, same, text, type Kind } from '../../base/fields/kinds.ts';
import { defined } from '../../base/runtime/objects.ts';

export type EndStatus = 'done' | 'failed' | 'interrupted';

/** What several calls cost together. Stored as decimal digits. */
export const totalCost: Kind<NanoDollars | 'unknown', string, components['schemas']['TestRunCost']> = {
  toStored: (cost) => (cost === 'unknown' ? cost : showMoney(cost).amount),
  fromStored: (stored) => (stored === 'unknown' ? stored : fromAmount(stored)),
  show: (cost) => (cost === 'unknown' ? null : showMoney(cost)),
  read: () => undefined,
};

interface RunTarget {
  readonly provider: string;
  readonly model: string;
  /** If the request named it with the provider. */
  readonly version?: number;
}

const runTarget = same<RunTarget>(({ provider, model, version }) => ({ provider, model, ...defined({ version }) }));

export const testRunFields = fields({
  id: made(text),
  promptId: made(text),
  promptVersion: made(integer),
  status: made(same<'running' | EndStatus>()),
  /** In the order of the request, with default models. */
  providers: made(list(runTarget)),
  /** Names of supplied variables that the prompt does not declare or use. */
  unknownVariables: hidden(list(text), { initially: [] }),
  createdAt: made(moment),
  /** The calls that succeeded; set when it is done. */
  answeredCount: made(integer, { optional: true }),
  /** What all calls cost together; set when it is done. */
  cost: made(totalCost, { optional: true }),
  /** Set at its end. */
  finishedAt: made(moment, { optional: true }),
  /** Size of its stored results, which are the answer of `getTestRunResults` byte by byte; set when it is done. */
  answerBytes: hidden(integer, { optional: true }),
  /** Set with `answerBytes`; absent if an earlier release stored the results: see `earlier-results.ts`. */
  hasPresentNames: hidden(flag, { optional: true }),
});

/** A test run without its results, which are in object storage. */
export interface TestRun extends Thing<typeof testRunFields.table> {
  /** 1 while it runs, 2 after its end. */
  readonly revision: number;
}

export type NewTestRun = Omit<
  TestRun,
  'revision' | 'status' | 'answeredCount' | 'cost' | 'finishedAt' | 'answerBytes' | 'hasPresentNames'
>;

/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInTestRun = None<
  Difference<Omit<components['schemas']['TestRun'], 'warnings'>, Shown<typeof testRunFields.table>>
>;
