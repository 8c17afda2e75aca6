/** The judges of an answer: stored prompts that say whether it is as a check wants. */
import type { components } from '../../../../generated/types.ts';
import { ProblemError } from '../../../base/errors/problem-error.ts';
import type { Reach } from '../../../base/limits/reach.ts';
import type { NanoDollars } from '../../../base/runtime/money.ts';
import type { GenerateResult } from '../../../models/language-model.ts';
import type { Plan } from '../../generation/plan.ts';
import type { Planner, PromptRequest } from '../../generation/planner.ts';
import { toTestError } from '../../test-runs/call-targets.ts';
import type { AskJudge, Judgement } from '../checks/check-answer.ts';
import {
  consequenceOfCall,
  invokeOnce,
  plus,
  repeatedly,
  triedWithout,
  waitOf,
  type AskDependencies,
  type AskTerms,
  type Tried,
} from '../runs/attempt.ts';
import type { Evaluation } from '../runs/evaluation.ts';
import type { Judging } from './judge-key.ts';

type Schemas = components['schemas'];
type Said = { readonly judgement: Judgement } | { readonly error: Schemas['TestError'] };

export interface Judges {
  /** The same question is asked once. @throws {BudgetStopError} */
  readonly ask: AskJudge;
  /** Why one of them said nothing. */
  error(): Schemas['TestError'] | undefined;
  /** What all of them cost so far. */
  cost(): NanoDollars | 'unknown';
}

/** @param caseId of the case that the answer is to, for the log */
export function createJudges(
  evaluation: Evaluation,
  caseId: string,
  terms: AskTerms,
  dependencies: AskDependencies,
): Judges {
  const asked = new Map<string, Promise<Said>>();
  let cost: NanoDollars | 'unknown' = 0n;
  let error: Schemas['TestError'] | undefined;

  const askOnce = async (judge: Schemas['Judge'], variables: PromptRequest['variables']): Promise<Tried<Said>> => {
    try {
      const { reach } = await terms.principal();
      const noted: Parameters<PromptRequest['note']>[0][] = [];
      const plan = await planJudge(judge, variables, reach, dependencies.planner, (known) => noted.push(known));
      const invocation = {
        provider: plan.targets[0]?.provider.id ?? '',
        plan: (_principal: unknown, note: PromptRequest['note']) => {
          for (const known of noted) note(known);
          return Promise.resolve(plan);
        },
      };
      const invoked = await invokeOnce(evaluation, invocation, terms, dependencies);
      const { called } = invoked;
      const spent = called.spent?.cost ?? 'unknown';
      if ('generated' in called) {
        const judgement = judgementOf(called.generated.result);
        if (judgement !== undefined) return { cost: spent, result: { judgement } };
        const silent = toTestError(
          new ProblemError('provider-bad-answer', { detail: 'The judge did not say `pass`.' }),
        );
        return { cost: spent, failed: { error: silent }, isLater: false, waitMs: 0 };
      }
      const consequence = consequenceOfCall(called.error, invoked, evaluation, terms, dependencies);
      const failed = { error: toTestError(called.error) };
      if (consequence === 'error' || consequence === 'refused') return { cost: spent, result: failed };
      return { cost: spent, failed, isLater: consequence === 'later', waitMs: waitOf(called.error) };
    } catch (thrown) {
      const tried = triedWithout(thrown, evaluation, caseId, terms, dependencies);
      if ('result' in tried) return { ...tried, result: { error: tried.result } };
      return { ...tried, failed: { error: tried.failed } };
    }
  };

  const askPersistently = async (...of: Parameters<typeof askOnce>): Promise<Said> => {
    const { result, cost: spent } = await repeatedly(() => askOnce(...of), terms, dependencies);
    cost = plus(cost, spent);
    return result;
  };

  return {
    async ask(judge, variables) {
      const question = JSON.stringify([judge.prompt, judge.version, variables]);
      const asking = asked.get(question) ?? askPersistently(judge, variables);
      asked.set(question, asking);
      const said = await asking;
      if ('judgement' in said) return said.judgement;
      const { prompt, version } = judge;
      error = { ...said.error, detail: `The judge "${prompt}", version ${version}: ${said.error.detail}` };
      const about = { evaluation: evaluation.id, case: caseId, judge: prompt, problem: error.type };
      dependencies.log.warn(about, 'a judge of an evaluation said nothing');
      return undefined;
    },
    error: () => error,
    cost: () => cost,
  };
}

/** What a judge is asked. It has no fallbacks: another model would be another judge. */
async function planJudge(
  { prompt, version }: Schemas['Judge'],
  variables: PromptRequest['variables'],
  reach: Reach | undefined,
  planner: Pick<Planner, 'fromPrompt'>,
  note: PromptRequest['note'] = () => undefined,
): Promise<Plan> {
  return await planner.fromPrompt({
    slugOrId: prompt,
    version,
    variables,
    overrides: { fallbacks: undefined },
    reach,
    note,
  });
}

/**
 * Which model a judge calls now.
 * @returns undefined if what it is told to answer cannot be a judgement
 * @throws {ProblemError} what an invocation throws
 */
export async function findJudging(
  judge: Schemas['Judge'],
  reach: Reach | undefined,
  planner: Pick<Planner, 'fromPrompt'>,
): Promise<Judging | undefined> {
  const nothing = { input: '', output: '', expected: '', rubric: '' };
  const plan = await planJudge(judge, nothing, reach, planner);
  const [target] = plan.targets;
  if (target === undefined || plan.prompt === undefined || !canJudge(plan)) return undefined;
  const { provider, request } = target;
  return { ...judge, promptId: plan.prompt.id, provider: provider.id, model: request.model };
}

function canJudge({ targets: [target] }: Plan): boolean {
  const { responseFormat } = target?.request ?? {};
  if (responseFormat?.type !== 'json' || responseFormat.schema === undefined) return false;
  const { properties, required } = responseFormat.schema as {
    readonly properties?: Readonly<Record<string, { readonly type?: unknown } | undefined>>;
    readonly required?: readonly string[];
  };
  return properties?.['pass']?.type === 'boolean' && required?.includes('pass') === true;
}

function judgementOf({ object }: GenerateResult): Judgement | undefined {
  if (object === undefined) return undefined;
  const { pass, score, reason } = JSON.parse(object.json.text) as Readonly<Record<string, unknown>>;
  if (typeof pass !== 'boolean') return undefined;
  return {
    pass,
    ...(typeof score === 'number' && { score }),
    ...(typeof reason === 'string' && { reason }),
  };
}
