import type { Prices } from '../costs/prices.ts';
import { ProblemError } from '../errors/problem-error.ts';
import type {
  AttemptEnd,
  AttemptLog,
  FinishReason,
  OpenAttempt,
  PricedRequest,
  Usage,
} from '../providers/language-model.ts';
import { abortable } from '../runtime/abortable.ts';
import type { Clock } from '../runtime/clock.ts';
import type { AttemptDocument, InvocationDocument } from './invocation.ts';
import type { Journals } from './journals.ts';

/** What becomes known of an invocation before its end. */
export type InvocationFact =
  | {
      readonly prompt: string;
      readonly slug: string;
      readonly version: number;
      readonly label: string | undefined;
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
      };
    }
  | { readonly error: unknown; readonly isCancelled: boolean };

export interface InvocationRecordDependencies {
  readonly clock: Clock;
  readonly prices: Pick<Prices, 'costOf'>;
  readonly journals: Pick<Journals, 'put'>;
  /** Called once, with the record when it is final. */
  readonly onFinal: (document: InvocationDocument, isInJournal: boolean) => void;
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

  /** @param document with the status of an invocation whose process is killed */
  constructor(document: InvocationDocument, dependencies: InvocationRecordDependencies) {
    this.id = document._id;
    this.#document = document;
    this.#dependencies = dependencies;
    this.#began = dependencies.clock.monotonic();
  }

  note(fact: InvocationFact): void {
    const document = this.#document;
    if ('provider' in fact) {
      document.provider = fact.provider;
      document.model = fact.model;
      return;
    }
    document.prompt_id = fact.prompt;
    document.prompt_slug = fact.slug;
    document.prompt_version = fact.version;
    if (fact.label !== undefined) document.label = fact.label;
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

  async begin(provider: string, request: PricedRequest, signal: AbortSignal): Promise<OpenAttempt> {
    const attempt = this.#add(provider, request.model);
    this.#isInJournal = true;
    try {
      await abortable(this.#dependencies.journals.put(this.id, this.#document), signal);
    } catch (error) {
      this.#withdraw(attempt);
      throw error;
    }
    return this.#opened(attempt, request);
  }

  beginFree(provider: string, request: PricedRequest): OpenAttempt {
    return this.#opened(this.#add(provider, request.model), request);
  }

  refuse(problem: ProblemError['type']): void {
    const last = this.#document.attempts.at(-1);
    if (last !== undefined) Object.assign(last, { status: 'failed', problem });
  }

  /** Call it once. */
  end(end: InvocationEnd): void {
    const document = this.#document;
    document.latency_ms = this.#elapsed(this.#began);
    if ('answer' in end) {
      const { provider, model, finishReason, isCached } = end.answer;
      document.status = 'succeeded';
      document.provider = provider;
      document.model = model;
      document.finish_reason = finishReason;
      document.cached = isCached;
    } else if (end.error instanceof ProblemError) {
      document.status = 'failed';
      document.problem = end.error.type;
    } else if (end.isCancelled) {
      document.status = 'cancelled';
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
    const usage = sumOf(document.attempts);
    if (usage !== undefined) document.usage = usage;
    const cost = totalOf(document.attempts);
    if (cost !== undefined) document.cost = cost;
    this.#dependencies.onFinal(document, this.#isInJournal);
  }

  #add(provider: string, model: string): AttemptDocument {
    const started_at = this.#dependencies.clock.now();
    const attempt: AttemptDocument = { provider, model, status: 'interrupted', started_at };
    this.#document.attempts.push(attempt);
    return attempt;
  }

  #withdraw(attempt: AttemptDocument): void {
    const { attempts } = this.#document;
    attempts.splice(attempts.indexOf(attempt), 1);
  }

  #opened(attempt: AttemptDocument, request: PricedRequest): OpenAttempt {
    const { clock } = this.#dependencies;
    const began = clock.monotonic();
    attempt.started_at = clock.now();
    return {
      end: (end) => {
        attempt.latency_ms = this.#elapsed(began);
        describe(attempt, end);
        this.#price(attempt, request, end);
      },
      withdraw: () => {
        this.#withdraw(attempt);
      },
    };
  }

  /** A call that broke off can cost more than what its provider had said, so its cost is unknown. */
  #price(attempt: AttemptDocument, request: PricedRequest, { isUnbilled }: AttemptEnd): void {
    const { provider, usage, usage_source, started_at } = attempt;
    if (isUnbilled === true) attempt.cost = 0;
    else if (usage !== undefined && usage_source === 'provider') {
      const cost = this.#dependencies.prices.costOf(provider, request, usage, started_at);
      if (cost === undefined) return;
      attempt.cost = Number(cost.amount);
      if (cost.match === 'prefix') attempt.price_match = cost.match;
    }
  }

  /** In whole milliseconds. */
  #elapsed(since: number): number {
    return Math.round(this.#dependencies.clock.monotonic() - since);
  }
}

function describe(attempt: AttemptDocument, { outcome, code, usage, answer }: AttemptEnd): void {
  const isOk = outcome === 'ok';
  if (isOk || outcome === 'cancelled') attempt.status = isOk ? 'succeeded' : 'cancelled';
  else Object.assign(attempt, { status: 'failed', problem: outcome });
  if (code !== undefined) attempt.provider_code = code;
  // A provider that gives no numbers leaves the usage unknown.
  if (usage !== undefined && Object.keys(usage).length > 0) {
    attempt.usage = usage;
    attempt.usage_source = isOk ? 'provider' : 'partial';
  }
  const model = nameIn(answer?.modelId);
  if (model !== undefined) attempt.answer_model = model;
  const id = nameIn(answer?.id);
  if (id !== undefined) attempt.answer_id = id;
}

/** A name that a provider sent; undefined if it is not one. */
function nameIn(sent: string | undefined): string | undefined {
  return sent !== undefined && /^[!-~]{1,200}$/.test(sent) ? sent : undefined;
}

/** What all attempts cost; undefined if that is unknown for one of them. */
function totalOf(attempts: readonly AttemptDocument[]): number | undefined {
  let total = 0;
  for (const { cost } of attempts) {
    if (cost === undefined) return undefined;
    total += cost;
  }
  return total;
}

/** The counts of all attempts; undefined if no attempt has any. */
function sumOf(attempts: readonly AttemptDocument[]): Usage | undefined {
  if (attempts.length < 2) return attempts[0]?.usage;
  const [first, ...others] = attempts.flatMap(({ usage }) => usage ?? []);
  if (first === undefined) return undefined;
  const sum: Record<string, number> = { ...first };
  for (const usage of others) {
    for (const [name, count] of Object.entries(usage)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}
