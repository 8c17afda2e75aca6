/** What an evaluation would ask, checked case by case before anything is spent. */
import { highestCost } from '../../../accounting/invocations/invocation-record.ts';
import type { Budgeting } from '../../../accounting/budgets/budgets.ts';
import type { Prices } from '../../../accounting/prices/prices.ts';
import type { components } from '../../../../generated/types.ts';
import { ProblemError } from '../../../base/errors/problem-error.ts';
import type { Principal } from '../../../base/limits/principal.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { NanoDollars } from '../../../base/runtime/money.ts';
import type { Turns } from '../../../base/runtime/turns.ts';
import { withAssumedLimit } from '../../generation/output-limit.ts';
import type { Plan } from '../../generation/plan.ts';
import { createPlanner, type Planner, type PromptRequest } from '../../generation/planner.ts';
import { readConversation } from '../../invoke/conversation.ts';
import type { ProviderRegistry } from '../../../models/provider.ts';
import { readOverrides } from '../../prompt.ts';
import type { Prompts, ResolvedPrompt } from '../../prompts.ts';
import type { Check } from '../checks/check-answer.ts';
import type { Case } from '../datasets/dataset.ts';
import type { Datasets } from '../datasets/datasets.ts';
import { isSameFamily, type Judging } from '../judges/judge-key.ts';
import { findJudging } from '../judges/judges.ts';
import { fewestCases } from '../verdict/verdict.ts';
import { sidesOf, toRule, type AskedJudge, type Evaluation, type Side, type SideName } from './evaluation.ts';
import { tooFewCases } from './problems.ts';

type Mistake = components['schemas']['EvaluationMistake'];

/** The parts of an evaluation that decide what is asked. */
export type Asked = Pick<Evaluation, 'promptId' | 'candidate' | 'baseline' | 'dataset' | 'checks' | 'rule'>;

export interface Planned {
  readonly calls: number;
  readonly ceiling: NanoDollars | 'unknown';
  /** Empty if everything can be asked. */
  readonly mistakes: readonly Mistake[];
  /** With provider and model. */
  readonly sides: Partial<Record<SideName, Side>>;
  readonly judges: readonly AskedJudge[];
}

export interface PlanDependencies {
  readonly prompts: Pick<Prompts, 'resolve'>;
  readonly providers: Pick<ProviderRegistry, 'get'>;
  readonly datasets: Pick<Datasets, 'part'>;
  readonly budgets: Pick<Budgeting, 'assumedOutputTokens'>;
  readonly prices: Pick<Prices, 'quote'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly turns: Turns;
}

/** After so many mistakes the rest is not checked. */
const mostMistakes = 20;

/**
 * Plans every answer of an evaluation. Nothing is sent.
 * @param signal ends the work
 * @throws {ProblemError} prompt-not-found; storage-unavailable, database-unavailable
 */
export async function planEvaluation(
  evaluation: Asked,
  principal: Principal,
  { prompts, providers, datasets, budgets, prices, clock, turns }: PlanDependencies,
  signal: AbortSignal,
): Promise<Planned> {
  const { promptId, dataset, rule, checks = [] } = evaluation;
  const planner = createPlanner({ prompts: remembering(prompts), providers });
  const assumed = budgets.assumedOutputTokens({ principal, promptId });
  const sides = sidesOf(evaluation);
  const known: Partial<Record<SideName, Side>> = {};
  const mistakes: Mistake[] = [];
  const judges = createJudgeCheck(principal, planner);
  const groups = new Set<string>();
  let alone = 0;
  let calls = 0;
  let ceiling: NanoDollars | 'unknown' = 0n;

  for (const part of dataset.parts.keys()) {
    for (const one of await datasets.part({ id: dataset.versionId }, part, signal)) {
      await turns();
      signal.throwIfAborted();
      if (one.erased) continue;
      if (one.group === undefined) alone += 1;
      else groups.add(one.group);
      if (checks.length === 0 && (one.checks ?? []).length === 0) mistakes.push(withoutChecks(one.id));
      for (const [name, side] of sides) {
        const plan = await planSide(evaluation, side, one, principal, planner).catch((error: unknown) => {
          mistakes.push(mistakeOf(error, one.id, name));
        });
        const [target] = plan?.targets ?? [];
        if (target === undefined) continue;
        const { provider, request } = assumed === undefined ? target : await withAssumedLimit(target, assumed);
        known[name] ??= { ...side, provider: provider.id, model: request.model };
        const most = highestCost(prices.quote(provider.id, request, clock.now()), await provider.ceiling(request));
        calls += 1;
        for (const { judge } of [...checks, ...((one.checks ?? []) as unknown as typeof checks)]) {
          if (judge === undefined) continue;
          const mistake = await judges.check(judge);
          if (mistake !== undefined) mistakes.push({ ...mistake, case: one.id });
          calls += 1;
          // What it reads is as long as the answer.
          ceiling = 'unknown';
        }
        ceiling = ceiling === 'unknown' || most === undefined ? 'unknown' : ceiling + most.amount;
      }
      if (mistakes.length >= mostMistakes) break;
    }
    if (mistakes.length >= mostMistakes) break;
  }
  const units = alone + groups.size;
  const fewest = fewestCases(toRule(rule));
  if (mistakes.length === 0 && units < fewest) {
    const { type, message: detail } = tooFewCases(units, fewest);
    mistakes.push({ problem: `urn:prompt-gateway:problem:${type}`, detail });
  }
  const { model = '' } = known.candidate ?? {};
  const asked = judges.found().map((one) => ({ ...one, isOfCandidatesFamily: isSameFamily(one.model, model) }));
  return { calls, ceiling, mistakes: mistakes.slice(0, mostMistakes), sides: known, judges: asked };
}

/** Reads each version once. Versions never change, and thousands of cases need the same two. */
function remembering(prompts: Pick<Prompts, 'resolve'>): Pick<Prompts, 'resolve'> {
  const found = new Map<string, Promise<ResolvedPrompt>>();
  return {
    resolve(id, selection = {}) {
      const key = `${id} ${selection.version ?? ''}`;
      const known = found.get(key) ?? prompts.resolve(id, selection);
      found.set(key, known);
      return known;
    },
  };
}

type JudgeReference = NonNullable<Check['judge']>;
/** Those that an evaluation shows. */
const mostJudges = 100;

interface JudgeCheck {
  /** What is wrong with a judge, the first time that it is named. */
  check(judge: JudgeReference): Promise<Mistake | undefined>;
  /** The first that can judge. */
  found(): readonly Judging[];
}

function createJudgeCheck({ reach }: Principal, planner: Planner): JudgeCheck {
  const known = new Set<string>();
  const found: Judging[] = [];
  const check = async (judge: JudgeReference): Promise<Mistake | undefined> => {
    const name = `The judge "${judge.prompt}", version ${judge.version}`;
    try {
      const judging = await findJudging(judge, reach, planner);
      if (judging !== undefined) {
        if (found.length < mostJudges) found.push(judging);
        return undefined;
      }
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status >= 500) throw error;
      return { problem: `urn:prompt-gateway:problem:${error.type}`, detail: `${name}: ${error.message}` };
    }
    const detail = `${name}, has no JSON format whose schema requires a boolean "pass".`;
    return { problem: 'urn:prompt-gateway:problem:inconsistent-content', detail };
  };
  return {
    async check(judge) {
      const key = `${judge.prompt} ${judge.version}`;
      if (known.has(key)) return undefined;
      known.add(key);
      return await check(judge);
    },
    found: () => found,
  };
}

/**
 * The plan of one answer. It has no fallbacks: their answers would say nothing about this version.
 * @throws {ProblemError} what an invocation throws
 */
export function planSide(
  { promptId }: Pick<Evaluation, 'promptId'>,
  { version, overrides = {} }: Side,
  { variables, messages }: Case,
  { reach }: Pick<Principal, 'reach'>,
  planner: Pick<Planner, 'fromPrompt'>,
  note: PromptRequest['note'] = () => undefined,
): Promise<Plan> {
  const { provider, model, ...replaced } = overrides;
  return planner.fromPrompt({
    slugOrId: promptId,
    version,
    provider,
    model,
    variables,
    overrides: { ...readOverrides(replaced), fallbacks: undefined },
    // They were checked when the data set was set.
    messages: messages && (() => readConversation(messages as unknown as Parameters<typeof readConversation>[0])),
    reach,
    note,
  });
}

function mistakeOf(error: unknown, id: string, side: SideName): Mistake {
  const isMistake = error instanceof ProblemError && error.status < 500 && error.type !== 'prompt-not-found';
  if (!isMistake) throw error;
  const [first] = error.errors ?? [];
  const place = first !== undefined && 'pointer' in first ? ` (${first.pointer} ${first.detail})` : '';
  return { problem: `urn:prompt-gateway:problem:${error.type}`, detail: `${error.message}${place}`, case: id, side };
}

function withoutChecks(id: string): Mistake {
  return {
    problem: 'urn:prompt-gateway:problem:inconsistent-content',
    detail: 'Neither the case nor the evaluation has checks.',
    case: id,
  };
}
