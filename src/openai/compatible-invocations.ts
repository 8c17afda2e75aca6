import type { Scope } from '../../generated/operations.ts';
import { insufficientScope } from '../errors/insufficient-scope.ts';
import { ProblemError, type ProblemDetail } from '../errors/problem-error.ts';
import type { Plan } from '../generation/plan.ts';
import type { Planner } from '../generation/planner.ts';
import type { Known, PrepareRun, Run } from '../generation/invocations.ts';
import type { RequestMemory } from '../limits/memory-budget.ts';
import type { ProviderRegistry } from '../providers/provider.ts';
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
  /** For the log. */
  readonly requestId: string;
  readonly memory: RequestMemory;
  readonly traceparent: string | undefined;
  /** Called with the version, and with the provider and model, as soon as they are known. */
  readonly note: (known: Known) => void;
}

/** The member's own place in front of the rest of a pointer, or how to find it. */
type OwnPlace = string | ((match: string, ...groups: (string | undefined)[]) => string);

export type Places = readonly (readonly [RegExp, OwnPlace])[];

/**
 * Decides what a request sends to whom. Nothing is sent.
 *
 * @throws {ProblemError} insufficient-scope, model-not-found, conflicting-members; then as `Planner.fromPrompt` and
 *   `Planner.direct`, with the places of this API
 */
export type PrepareCompatibleRun = (request: CompatibleRequest) => Promise<Run<Plan>>;

export interface CompatibleRunsDependencies {
  readonly planner: Pick<Planner, 'fromPrompt' | 'direct'>;
  readonly providers: Pick<ProviderRegistry, 'get' | 'list'>;
  readonly prepareRun: PrepareRun;
  /** Deadline of all calls to providers, in milliseconds; for a stream, of the first content. */
  readonly timeoutMs: number;
}

export function createCompatibleRuns(dependencies: CompatibleRunsDependencies): PrepareCompatibleRun {
  const { prepareRun, timeoutMs } = dependencies;
  return ({ keyId, requestId, memory, traceparent, note, ...request }) =>
    prepareRun({
      keyId,
      requestId,
      memory,
      traceparent,
      timeoutMs,
      note,
      plan: (onKnown) => makePlan(request, onKnown, dependencies),
    });
}

async function makePlan(
  request: Pick<CompatibleRequest, 'target' | 'generation' | 'messagesAt' | 'places' | 'scopes'>,
  note: (known: Known) => void,
  { planner, providers }: CompatibleRunsDependencies,
): Promise<Plan> {
  const { generation, scopes } = request;
  const target = readTarget(request.target, scopes, providers);
  const { provider } = 'prompt' in target ? target.prompt : target.model;
  if (provider !== undefined && providers.get(provider) === undefined) {
    throw modelNotFound(`There is no provider ${JSON.stringify(provider)}.`, 'names no provider of this service');
  }
  try {
    if ('prompt' in target) {
      const hasTools = generation.tools !== undefined || generation.toolChoice !== undefined;
      if (hasTools && !scopes.has('providers:invoke')) throw insufficientScope('providers:invoke');
      // A format of the request takes the place of the prompt's, and is not checked, as without a prompt.
      return await planner.fromPrompt({
        ...target.prompt,
        ...generation,
        checksSchemas: false,
        onPrompt: note,
        onSelected: note,
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
    const place = typeof to === 'string' ? error.pointer.replace(from, to) : error.pointer.replace(from, to);
    return { ...error, pointer: place };
  });
  return new ProblemError(type, {
    detail,
    errors: moved,
    headers: { ...headers },
    extensions: { ...extensions },
    cause,
  });
}
