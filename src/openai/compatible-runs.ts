import type { Scope } from '../../generated/operations.ts';
import { insufficientScope } from '../errors/insufficient-scope.ts';
import { ProblemError, type ProblemDetail } from '../errors/problem-error.ts';
import type { Generated, GeneratedEvent, GenerateOptions, Generator } from '../generation/generator.ts';
import type { Plan } from '../generation/plan.ts';
import type { Planner } from '../generation/planner.ts';
import { bytesOf } from '../generation/request-size.ts';
import type { Budget } from '../limits/memory-budget.ts';
import type { CallOptions } from '../providers/generation.ts';
import type { ProviderRegistry } from '../providers/provider.ts';
import type { Statistics } from '../statistics/statistics.ts';
import { modelNotFound } from './model-name.ts';
import { conflict, readTarget, type RequestedGeneration, type TargetMembers } from './target.ts';

/** A request of one of OpenAI's APIs. */
export interface CompatibleRequest {
  /** What runs. */
  readonly target: TargetMembers;
  readonly generation: RequestedGeneration;
  /** The member with the messages, such as `#/messages`. */
  readonly messagesAt: string;
  /** Where members of the request are that an invocation has elsewhere: the first that matches. */
  readonly places: Places;
  readonly scopes: ReadonlySet<Scope>;
  readonly keyId: string;
  readonly traceparent: string | undefined;
  /** Called with the version, and with the provider and model, as soon as they are known. */
  readonly note: (known: { prompt: string; version: number } | { provider: string; model: string }) => void;
}

export type Places = readonly (readonly [RegExp, string])[];

/** A request that can be sent to its provider. */
export interface CompatibleRun {
  readonly plan: Plan;
  /** @throws {ProblemError} too-much-in-progress, overloaded; provider-* */
  generate(signal: AbortSignal): Promise<Generated>;
  /** The same for an answer that is streamed. Leaving the loop cancels the call. */
  stream(signal: AbortSignal): AsyncGenerator<GeneratedEvent, void, void>;
}

/**
 * Decides what a request sends to whom. Nothing is sent.
 *
 * @throws {ProblemError} insufficient-scope, model-not-found, conflicting-members; then as `Planner.fromPrompt` and
 *   `Planner.direct`, with the places of this API
 */
export type PrepareRun = (request: CompatibleRequest) => Promise<CompatibleRun>;

export interface CompatibleRunsDependencies {
  readonly planner: Pick<Planner, 'fromPrompt' | 'direct'>;
  readonly generator: Pick<Generator, 'generate' | 'stream'>;
  readonly providers: Pick<ProviderRegistry, 'get'>;
  readonly statistics: Pick<Statistics, 'invoked'>;
  readonly memory: Budget;
  /** Deadline of all calls to providers, in milliseconds; for a stream, of the first content. */
  readonly timeoutMs: number;
}

/** The answer is passed on as it came. */
const options: GenerateOptions = { checkJson: false };

export function createCompatibleRuns(dependencies: CompatibleRunsDependencies): PrepareRun {
  const { generator, statistics, memory, timeoutMs } = dependencies;
  return async (request) => {
    const { keyId, traceparent } = request;
    let found: { readonly prompt: string; readonly version: number } | undefined;
    const count = (generated: Generated | undefined): void => {
      if (found !== undefined) statistics.invoked(found.prompt, found.version, generated);
    };
    const note: CompatibleRequest['note'] = (known) => {
      if ('prompt' in known) found = known;
      request.note(known);
    };
    const callOf = (signal: AbortSignal): CallOptions => ({
      ...{ keyId, traceparent, signal },
      deadline: performance.now() + timeoutMs,
    });
    const answered = (generated: Generated): void => {
      request.note({ provider: generated.provider, model: generated.model });
      count(generated);
    };
    let plan: Plan;
    try {
      plan = await makePlan({ ...request, note }, dependencies);
    } catch (error) {
      count(undefined);
      throw error;
    }
    return {
      plan,
      async generate(signal) {
        try {
          const release = memory.reserve(keyId, bytesOf(plan));
          try {
            const generated = await generator.generate(plan, callOf(signal), options);
            answered(generated);
            return generated;
          } finally {
            release();
          }
        } catch (error) {
          count(undefined);
          throw error;
        }
      },
      async *stream(signal) {
        let isCounted = false;
        try {
          const release = memory.reserve(keyId, bytesOf(plan));
          try {
            for await (const event of generator.stream(plan, callOf(signal), options)) {
              if (event.type === 'finish') {
                isCounted = true;
                answered(event.generated);
              }
              yield event;
            }
          } finally {
            release();
          }
        } finally {
          if (!isCounted) count(undefined);
        }
      },
    };
  };
}

/** Neighbouring texts of an answer that is kept become one. */
export function joinTexts(one: GeneratedEvent, next: GeneratedEvent): GeneratedEvent | undefined {
  if (one.type !== 'text' || next.type !== 'text') return undefined;
  return { type: 'text', delta: one.delta + next.delta };
}

async function makePlan(
  request: CompatibleRequest,
  { planner, providers }: Pick<CompatibleRunsDependencies, 'planner' | 'providers'>,
): Promise<Plan> {
  const { generation, scopes, note } = request;
  const target = readTarget(request.target, scopes);
  const { provider } = 'prompt' in target ? target.prompt : target.model;
  if (provider !== undefined && providers.get(provider) === undefined) {
    throw modelNotFound(`There is no provider ${JSON.stringify(provider)}.`, 'names no provider of this service');
  }
  try {
    if ('prompt' in target) {
      const hasTools = generation.tools !== undefined || generation.toolChoice !== undefined;
      if (hasTools && !scopes.has('providers:invoke')) throw insufficientScope('providers:invoke');
      return await planner.fromPrompt({
        ...{ ...target.prompt, ...generation },
        ...{ checksSchemas: false, onPrompt: note, onSelected: note },
      });
    }
    if (generation.messages.length === 0) throw conflict(request.messagesAt, 'is required without a stored prompt');
    note(target.model);
    const { provider: id, model } = target.model;
    return await planner.direct({ provider: id, request: { model, ...generation } });
  } catch (error) {
    throw error instanceof ProblemError ? atOwnPlaces(error, request.places) : error;
  }
}

/** The places that both APIs have. */
const commonPlaces: Places = [
  [/^#\/(?:provider|model)$/, '#/model'],
  [/^#\/(variables|version)(?=\/|$)/, '#/prompt/$1'],
  [/^#\/label$/, '#/prompt/version'],
];

function atOwnPlaces(problem: ProblemError, places: Places): ProblemError {
  const { type, message: detail, errors, headers, extensions, cause } = problem;
  if (errors === undefined) return problem;
  const rules = [...places, ...commonPlaces];
  const moved = errors.map((error): ProblemDetail => {
    if (!('pointer' in error)) return error;
    const [from, to] = rules.find(([pattern]) => pattern.test(error.pointer)) ?? [/^/, ''];
    return { ...error, pointer: error.pointer.replace(from, to) };
  });
  return new ProblemError(type, {
    detail,
    errors: moved,
    headers: { ...headers },
    extensions: { ...extensions },
    cause,
  });
}
