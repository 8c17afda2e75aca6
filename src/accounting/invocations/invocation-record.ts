import { defined } from '../../base/runtime/objects.ts';
import type { Principal } from '../../base/limits/principal.ts';
import type { Budgeting, Charged, UnknownCost } from '../budgets/budgets.ts';
import type { Claim } from '../budgets/shares.ts';
import { fromStored, noCost, toPlain, type CallCost, type NanoDollars } from '../../base/runtime/money.ts';
import { hasOtherPrice, type Prices, type Quote } from '../prices/prices.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { isRefusal } from '../../base/errors/refusal.ts';
import type {
  AttemptEnd,
  AttemptLog,
  FailedAttempt,
  FinishReason,
  GenerateEvent,
  GenerateRequest,
  GenerateResult,
  OpenAttempt,
  PricedRequest,
  TokenCeiling,
  Usage,
} from '../../models/language-model.ts';
import { likelyOutputTokens } from '../../models/call/token-ceiling.ts';
import { abortable } from '../../base/runtime/abortable.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { KeptContent, stricterOf, type ContentMode, type Variables } from './content.ts';
import {
  toStoredStatus,
  type CallAttemptDocument,
  type InvocationDocument,
  type CanaryDocument,
} from './invocation.ts';
import type { Journals, Paid } from './journals.ts';
import type { EndedCall } from '../statistics/provider-health.ts';

/** What becomes known of an invocation before its end. */
export type InvocationFact =
  | {
      readonly prompt: string;
      readonly slug: string;
      /** Undefined for a draft. */
      readonly version: number | undefined;
      readonly label: string | undefined;
      /** How the label decided on the version; undefined without a canary. */
      readonly canary?: Omit<CanaryDocument, 'outcome'> | undefined;
      /** Of which invocations the prompt allows to keep the content; undefined if it does not say. */
      readonly contentMode: ContentMode | undefined;
    }
  | { readonly provider: string; readonly model: string };

/** How an invocation ended for its caller. */
export type InvocationEnd =
  | {
      readonly answer: {
        readonly provider: string;
        readonly model: string;
        readonly finishReason: FinishReason;
        readonly isCached: boolean;
        readonly result: GenerateResult;
      };
    }
  | { readonly error: unknown; readonly isCanceled: boolean };

/** What the calls of an invocation cost. */
export interface Spent {
  /** Undefined if it is unknown. */
  readonly cost: NanoDollars | undefined;
  /** Whether `cost` contains ceilings. */
  readonly isCeiling: boolean;
}

/** What is known of a record when it is final. */
export interface FinalRecord {
  readonly isInJournal: boolean;
  /** Whether it must be stored before its entry leaves the journal, even without attempts. */
  readonly isNeeded: boolean;
  /** As JSON, if it is to be kept. */
  readonly content: string | undefined;
}

export interface InvocationRecordDependencies {
  readonly clock: Clock;
  readonly prices: Pick<Prices, 'quote'>;
  readonly journals: Pick<Journals, 'put'>;
  readonly budgets: Budgeting;
  readonly principal: Principal;
  /** Of which invocations the content may be kept. */
  readonly contentMode: ContentMode;
  /** Whether its answer can be that of another invocation. */
  readonly mayShare: boolean;
  /** Called at the end of each call, unless it was canceled. */
  readonly onCalled: (call: EndedCall) => void;
  /** Called once, with the record when it is final. */
  readonly onFinal: (document: InvocationDocument, final: FinalRecord) => void;
}

/**
 * The record of an invocation in progress. It is final when the invocation has ended, and its calls have: a call that is
 * shared goes on for others after the caller who pays for it has left.
 */
export class InvocationRecord implements AttemptLog {
  readonly id: string;
  readonly #document: InvocationDocument;
  readonly #dependencies: InvocationRecordDependencies;
  readonly #began: number;
  /** The invocation, and each shared call. */
  #holds = 1;
  #isInJournal = false;
  /** Its entry may have more attempts than its record, and budgets may count them. */
  #isNeeded = false;
  #contentMode: ContentMode;
  /** Undefined if it is not kept. */
  #content: KeptContent | undefined;
  #onFinal: ((spent: Spent) => void) | undefined;
  /** The first target. */
  #selected: { readonly provider: string; readonly model: string } | undefined;

  /** @param document with the status of an invocation whose process is killed */
  constructor(document: InvocationDocument, dependencies: InvocationRecordDependencies) {
    this.id = document._id;
    this.#document = document;
    this.#dependencies = dependencies;
    this.#contentMode = dependencies.contentMode;
    this.#began = dependencies.clock.monotonic();
  }

  note(fact: InvocationFact): void {
    const document = this.#document;
    if ('provider' in fact) {
      this.#selected ??= fact;
      document.provider = fact.provider;
      document.model = fact.model;
      return;
    }
    document.prompt_id = fact.prompt;
    document.prompt_slug = fact.slug;
    if (fact.version !== undefined) document.prompt_version = fact.version;
    if (fact.label !== undefined) document.label = fact.label;
    if (fact.canary !== undefined) this.#drawn(fact.canary);
    this.#contentMode = stricterOf(this.#contentMode, fact.contentMode);
  }

  /**
   * From now on, everything without a whole answer of the first target is a failure, with either version: also what the
   * service refuses, because a version has a part in that, too. What can be the answer of another invocation does not
   * count, because the evidence needs independent ones.
   */
  #drawn(canary: Omit<CanaryDocument, 'outcome'>): void {
    const { mayShare } = this.#dependencies;
    this.#document.rollout = { ...canary, outcome: mayShare ? 'not-counted' : 'failed' };
    if (!mayShare) this.#document.rollout_failure = canary.id;
  }

  /** Providers get this limit of output tokens because of a budget. */
  assumed(maxOutputTokens: number | undefined): void {
    if (maxOutputTokens !== undefined) this.#document.assumed_max_output_tokens = maxOutputTokens;
  }

  /**
   * What is sent to the selected provider, and the variables in it. The prompt is known before.
   * @param promptMessages how many of the messages are those of the stored prompt; undefined without one
   */
  asked(request: GenerateRequest | undefined, variables: Variables, promptMessages: number | undefined): void {
    if (this.#contentMode === 'off' || request === undefined) return;
    this.#content = new KeptContent();
    this.#content.asked(request, variables, promptMessages);
  }

  /** A piece of a streamed answer. */
  received(event: Exclude<GenerateEvent, { readonly type: 'finish' }>): void {
    this.#content?.received(event);
  }

  /** The first content of a stream was there. */
  firstContent(): void {
    this.#document.first_content_ms = this.#elapsed(this.#began);
  }

  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#release();
    };
  }

  join(id: string): void {
    this.#document.joined = id;
  }

  async begin(
    provider: string,
    request: PricedRequest,
    limit: TokenCeiling,
    signal: AbortSignal,
  ): Promise<OpenAttempt> {
    const { budgets, journals } = this.#dependencies;
    const refreshed = budgets.refreshed();
    if (refreshed !== undefined) await abortable(refreshed, signal);
    const attempt = this.#add(provider, request.model);
    const quote = this.#quote(attempt, request);
    const ceiling = withinModel(limit, quote);
    // What is stored if the process is killed.
    const cost = setCeiling(attempt, quote, ceiling, { inputTokens: ceiling.likelyInputTokens, outputTokens: 0 });
    const most = mostOf(cost, ceiling, request);
    let paid: Paid | undefined;
    try {
      paid = paidBy(budgets.claim(this.#charged(), attempt, most), attempt, signal);
      this.#isInJournal = true;
      await abortable(journals.put(this.id, this.#document, paid), signal);
    } catch (error) {
      this.#withdraw(attempt);
      if (paid?.isPut === true) this.#isNeeded = true;
      if (isRefusal(error) && error.extensions.budget !== undefined) {
        const { refused_by: before, created_at: began } = this.#document;
        this.#document.refused_by = error.extensions.budget;
        // An invocation counts once, also if its fallback is refused too.
        if (before !== error.extensions.budget) budgets.refused(error.extensions.budget, began);
      }
      throw error;
    }
    return this.#opened(attempt, quote, ceiling, paid && typeof most === 'number' ? most : undefined);
  }

  get payers(): string {
    return this.#dependencies.budgets.payersOf(this.#charged());
  }

  /** The limit of output tokens that its budgets want for a provider that would get none. */
  get assumedOutputTokens(): number | undefined {
    return this.#dependencies.budgets.assumedOutputTokens(this.#charged());
  }

  beginFree(provider: string, request: PricedRequest, ceiling: TokenCeiling): OpenAttempt | undefined {
    const { clock, prices } = this.#dependencies;
    const quote = prices.quote(provider, request, clock.now());
    if (ceilingOf(quote, ceiling)?.amount !== 0n) return undefined;
    return this.#opened(this.#add(provider, request.model), quote, undefined);
  }

  /** Its calls so far, for the problem of an invocation that is ended before them. */
  calls(): FailedAttempt[] {
    return this.#document.attempts.map(({ provider, model, problem = 'interrupted', cost }) => ({
      provider,
      model,
      problem,
      may_be_billed: cost !== 0,
    }));
  }

  /** Call it once. @param onFinal called when all calls have ended */
  end(end: InvocationEnd, onFinal?: (spent: Spent) => void): void {
    this.#onFinal = onFinal;
    const document = this.#document;
    document.latency_ms = this.#elapsed(this.#began);
    if ('answer' in end) {
      const { provider, model, finishReason, isCached, result } = end.answer;
      this.#content?.answered(result);
      document.status = 'succeeded';
      const isFirst = provider === this.#selected?.provider && model === this.#selected.model;
      if (isFirst && document.rollout?.outcome === 'failed' && isWhole(finishReason)) {
        document.rollout.outcome = 'whole';
        delete document.rollout_failure;
      }
      document.provider = provider;
      document.model = model;
      document.finish_reason = finishReason;
      document.cached = isCached;
    } else if (end.error instanceof ProblemError) {
      document.status = 'failed';
      document.problem = end.error.type;
    } else if (end.isCanceled) {
      document.status = toStoredStatus('canceled');
    } else {
      document.status = 'failed';
      document.problem = 'internal-error';
    }
    this.#release();
  }

  #release(): void {
    this.#holds -= 1;
    if (this.#holds > 0) return;
    const document = this.#document;
    addTotals(document);
    const { cost, attempts } = document;
    this.#onFinal?.({
      cost: cost === undefined ? undefined : fromStored(cost),
      isCeiling: attempts.some(({ usage_source: source }) => source === 'ceiling'),
    });
    const isKept = this.#contentMode === 'all' || document.status === 'failed';
    const content = isKept ? this.#content?.toJson() : undefined;
    this.#dependencies.onFinal(document, { isInJournal: this.#isInJournal, isNeeded: this.#isNeeded, content });
  }

  #add(provider: string, model: string): CallAttemptDocument {
    const started_at = this.#dependencies.clock.now();
    const attempt: CallAttemptDocument = { provider, model, status: 'interrupted', started_at };
    this.#document.attempts.push(attempt);
    return attempt;
  }

  #charged(): Charged {
    const { principal } = this.#dependencies;
    const { prompt_id: promptId } = this.#document;
    return { principal, promptId };
  }

  #withdraw(attempt: CallAttemptDocument): void {
    const { attempts } = this.#document;
    attempts.splice(attempts.indexOf(attempt), 1);
  }

  #quote({ provider, started_at: at }: CallAttemptDocument, request: PricedRequest): Quote | undefined {
    return this.#dependencies.prices.quote(provider, request, at);
  }

  /** @param most that budgets have reserved for it */
  #opened(
    attempt: CallAttemptDocument,
    quote: Quote | undefined,
    ceiling: TokenCeiling | undefined,
    most?: number,
  ): OpenAttempt {
    const began = this.#dependencies.clock.monotonic();
    return {
      end: (end) => {
        attempt.latency_ms = this.#elapsed(began);
        describe(attempt, end);
        if (end.refused !== undefined) this.#content?.answered(end.refused);
        this.#tell(attempt.provider, end);
        const cost = settle(attempt, quote, ceiling, end);
        if (most !== undefined && cost !== undefined && Number(cost.amount) > most) {
          const { provider, model } = attempt;
          const excess = { provider, model, invocationId: this.id, most, cost: Number(cost.amount) };
          this.#dependencies.budgets.exceeded(excess);
        }
        return cost;
      },
      withdraw: () => {
        this.#withdraw(attempt);
        if (attempt.budgets !== undefined) this.#isNeeded = true;
      },
    };
  }

  #tell(provider: string, end: AttemptEnd): void {
    const { outcome, detail, status, code, message } = end;
    if (outcome === 'canceled') return;
    const failure = hasAnswered(end) ? undefined : { problem: outcome, detail, status, code, message };
    this.#dependencies.onCalled({ provider, began: this.#document.created_at, failure });
  }

  /** In whole milliseconds. */
  #elapsed(since: number): number {
    return Math.round(this.#dependencies.clock.monotonic() - since);
  }
}

function isWhole(reason: FinishReason): boolean {
  return reason === 'stop' || reason === 'tool-calls';
}

/** What a call reserves of budgets, or why that is unknown. */
function mostOf(
  cost: CallCost | undefined,
  { outputTokens, isKept, hasUnknown }: TokenCeiling,
  { providerOptions }: PricedRequest,
): number | UnknownCost {
  if (hasUnknown === true) return 'unknown-input';
  if (cost !== undefined) return isKept ? Number(cost.amount) : 'output-limit-not-kept';
  if (outputTokens === undefined) return 'no-output-limit';
  return hasOtherPrice(providerOptions) ? 'priced-option' : 'no-price';
}

function paidBy(claim: Claim | undefined, attempt: CallAttemptDocument, signal: AbortSignal): Paid | undefined {
  if (claim === undefined) return undefined;
  attempt.budgets = claim.periods.map(({ id }) => id);
  return { claim, attempt, signal };
}

function describe(attempt: CallAttemptDocument, { outcome, answer, ...end }: AttemptEnd): void {
  if (outcome === 'succeeded' || outcome === 'canceled') attempt.status = toStoredStatus(outcome);
  else Object.assign(attempt, { status: 'failed', problem: outcome });
  const { detail, status: provider_status, code: provider_code, message: provider_message } = end;
  Object.assign(attempt, defined({ detail, provider_status, provider_code, provider_message }));
  const model = nameIn(answer?.modelId);
  if (model !== undefined) attempt.answer_model = model;
  const id = nameIn(answer?.id);
  if (id !== undefined) attempt.answer_id = id;
}

/** Whether the provider has done its part. */
function hasAnswered({ outcome, refused }: AttemptEnd): boolean {
  return outcome === 'succeeded' || refused !== undefined;
}

/**
 * Sets what a call used and cost that has ended.
 * @returns undefined if the cost is unknown
 */
function settle(
  attempt: CallAttemptDocument,
  quote: Quote | undefined,
  ceiling: TokenCeiling | undefined,
  end: AttemptEnd,
): CallCost | undefined {
  const { usage = {}, isUnbilled, receivedBytes = 0 } = end;
  delete attempt.estimate;
  if (isUnbilled === true) {
    if (attempt.usage_source !== undefined) {
      delete attempt.usage;
      delete attempt.usage_source;
      delete attempt.price_match;
    }
    return setCost(attempt, noCost);
  }
  if (hasAnswered(end) && usage.inputTokens !== undefined && usage.outputTokens !== undefined) {
    const cost = quote?.costOf(usage);
    // If its numbers contradict each other, the ceiling counts.
    if (cost !== undefined || ceilingOf(quote, ceiling) === undefined) {
      attempt.usage = usage;
      attempt.usage_source = 'provider';
      return setCost(attempt, cost);
    }
  }
  if (ceiling === undefined) return undefined;
  const estimate = {
    ...usage,
    inputTokens: usage.inputTokens ?? ceiling.likelyInputTokens,
    outputTokens: Math.max(usage.outputTokens ?? 0, likelyOutputTokens(receivedBytes)),
  };
  if (ceiling.outputTokens === undefined) {
    attempt.usage = estimate;
    attempt.usage_source = 'estimated';
    return undefined;
  }
  return setCeiling(attempt, quote, ceiling, estimate, usage);
}

/** Providers refuse a limit of output tokens above that of the model, or write no more than this. */
function withinModel(ceiling: TokenCeiling, quote: Quote | undefined): TokenCeiling {
  const { outputTokens } = ceiling;
  const most = quote?.mostOutputTokens;
  return outputTokens === undefined || most === undefined || outputTokens <= most
    ? ceiling
    : { ...ceiling, outputTokens: most };
}

/**
 * Without final numbers of the provider, a call counts as the most that it can cost. What it has said of the input
 * counts in place of the ceiling of that.
 */
function setCeiling(
  attempt: CallAttemptDocument,
  quote: Quote | undefined,
  ceiling: TokenCeiling,
  estimate: Usage,
  said: Usage = {},
): CallCost | undefined {
  const { inputTokens, outputTokens } = ceiling;
  if (outputTokens === undefined) return undefined;
  const estimated = quote?.costOf(estimate)?.amount;
  attempt.estimate = { usage: estimate, ...(estimated !== undefined && { cost: toPlain(estimated) }) };
  attempt.usage_source = 'ceiling';
  const most = ceilingOf(quote, ceiling);
  const { reasoningTokens: _, ...input } = said;
  const known = { ...input, outputTokens };
  // Some send 0 for what they do not say.
  const cost = input.inputTokens === 0 ? undefined : quote?.costOf(known);
  if (cost !== undefined && most !== undefined && cost.amount <= most.amount) {
    attempt.usage = known;
    return setCost(attempt, { ...cost, basis: 'ceiling' });
  }
  attempt.usage = { inputTokens, outputTokens };
  return setCost(attempt, most);
}

/** The most that a call can cost. @returns undefined if that is unknown */
export function highestCost(quote: Quote | undefined, limit: TokenCeiling): CallCost | undefined {
  return ceilingOf(quote, withinModel(limit, quote));
}

function ceilingOf(quote: Quote | undefined, ceiling: TokenCeiling | undefined): CallCost | undefined {
  if (ceiling?.outputTokens === undefined) return undefined;
  return quote?.ceilingOf({ inputTokens: ceiling.inputTokens, outputTokens: ceiling.outputTokens });
}

function setCost(attempt: CallAttemptDocument, cost: CallCost | undefined): CallCost | undefined {
  if (cost === undefined) return undefined;
  attempt.cost = toPlain(cost.amount);
  if (cost.match === 'prefix') attempt.price_match = cost.match;
  return cost;
}

/** Adds up what the attempts of a record used and cost. */
export function addTotals(document: InvocationDocument): void {
  const usage = sumOf(document.attempts);
  if (usage !== undefined) document.usage = usage;
  const cost = totalOf(document.attempts);
  if (cost !== undefined) document.cost = toPlain(cost);
}

/** A name that a provider sent; undefined if it is not one. */
function nameIn(sent: string | undefined): string | undefined {
  return sent !== undefined && /^[!-~]{1,200}$/.test(sent) ? sent : undefined;
}

/** What all attempts cost; undefined if that is unknown for one of them. */
function totalOf(attempts: readonly CallAttemptDocument[]): NanoDollars | undefined {
  let total = 0n;
  for (const { cost } of attempts) {
    if (cost === undefined) return undefined;
    total += fromStored(cost);
  }
  return total;
}

/** The counts of all attempts; undefined if no attempt has any. */
function sumOf(attempts: readonly CallAttemptDocument[]): Usage | undefined {
  if (attempts.length < 2) return attempts[0]?.estimate?.usage ?? attempts[0]?.usage;
  const [first, ...others] = attempts.flatMap(({ usage, estimate }) => estimate?.usage ?? usage ?? []);
  if (first === undefined) return undefined;
  const sum: Record<string, number> = { ...first };
  for (const usage of others) {
    for (const [name, count] of Object.entries(usage)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}
