import type { Scope } from '../../../generated/operations.ts';
import { insufficientScope } from '../../base/errors/insufficient-scope.ts';
import type { GeneratedEvent } from '../generation/generator.ts';
import { atOwnPlaces, type Places } from '../generation/own-places.ts';
import {
  answeringIn,
  type Answering,
  type Invocation,
  type Invoker,
  type PrepareInvocation,
} from '../generation/prepare-invocation.ts';
import type { Known, Plan } from '../generation/plan.ts';
import type { Planner } from '../generation/planner.ts';
import { supportedTargets } from '../generation/supported.ts';
import type { Reach } from '../../base/limits/reach.ts';
import type {
  AnswerForm,
  JsonObject,
  Message,
  OriginalApi,
  OriginalRequest,
  Parameters,
  ResponseFormat,
  Tool,
  ToolChoice,
} from '../../models/language-model.ts';
import { inCamelCase } from '../../models/provider-options.ts';
import type { ProviderRegistry, Unsupported } from '../../models/provider.ts';
import { withinReach } from '../../models/within-reach.ts';
import { modelNotFound } from './model-name.ts';
import { conflict, readTarget, type RequestTarget, type TargetMembers } from './target.ts';

/** What a request says to the model. Members that it leaves out are those of a stored prompt, if there is one. */
export interface RequestedGeneration {
  readonly messages: readonly Message[];
  readonly parameters?: Parameters;
  readonly responseFormat?: ResponseFormat;
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
}

/** A request of one of the APIs of others. */
export interface CompatibleRequest extends Pick<AnswerForm, 'isStreamed' | 'showsThinking' | 'needsArgumentObjects'> {
  /** What runs. */
  readonly target: TargetMembers;
  readonly generation: RequestedGeneration;
  /** Members that only some providers have, by their names in the bodies of these. */
  readonly extra: JsonObject;
  /** The member with the messages, such as `#/messages`. */
  readonly messagesAt: string;
  /** Where members of the request are that an invocation has elsewhere: the first that matches. */
  readonly places: Places;
  /** The member with the limit of output tokens, if a request needs one that does not use a stored prompt. */
  readonly limitAt?: string;
  /** The request as it was written, for a provider that has this API itself. */
  readonly original?: { readonly api: OriginalApi; readonly make: () => OriginalRequest };
  /**
   * What a provider cannot take of the request, by JSON pointers, besides what `Provider.unsupported` finds.
   *
   * @param isOriginal whether it gets the request as it was written
   */
  readonly unsupportedBy?: (provider: string, isOriginal: boolean) => readonly Unsupported[];
  readonly operation: 'chat-completion' | 'response' | 'message';
  /** `name=value` */
  readonly tags: readonly string[];
}

interface CompatiblePrincipal {
  readonly scopes: ReadonlySet<Scope>;
  readonly reach?: Reach | undefined;
}

type CompatibleInvoker = Invoker & { readonly principal: CompatiblePrincipal };

/**
 * Decides what a request sends to whom. Nothing is sent.
 *
 * @throws {ProblemError} insufficient-scope, model-not-found, conflicting-members; then as `Planner.fromPrompt` and
 *   `Planner.direct`, with the places of this API
 */
export type PrepareCompatible = (invoker: CompatibleInvoker, request: CompatibleRequest) => Promise<Invocation<Plan>>;

export interface CompatibleInvocationsDependencies {
  readonly planner: Pick<Planner, 'fromPrompt' | 'direct'>;
  readonly providers: Pick<ProviderRegistry, 'get' | 'list'>;
  readonly prepare: PrepareInvocation;
  /** Deadline of all calls to providers, in milliseconds; for a stream, of the first content. */
  readonly timeoutMs: number;
}

export function createCompatibleInvocations(
  plans: CompatiblePlans,
  { prepare, timeoutMs }: Pick<CompatibleInvocationsDependencies, 'prepare' | 'timeoutMs'>,
): PrepareCompatible {
  return (invoker, request) => {
    const { operation, isStreamed, showsThinking, needsArgumentObjects, tags } = request;
    const { principal } = invoker;
    const plan = async (note: (known: Known) => void): Promise<Plan> =>
      await plans.plan(request, plans.targetOf(request.target, principal), principal, note);
    return prepare(invoker, plan, { timeoutMs, operation, isStreamed, showsThinking, needsArgumentObjects, tags });
  };
}

/** The steps from a request to its plan. Nothing is sent, and nothing is recorded. */
export interface CompatiblePlans {
  /** What a request runs. @throws {ProblemError} insufficient-scope, model-not-found, conflicting-members */
  targetOf(members: TargetMembers, principal: CompatiblePrincipal): RequestTarget;
  /** @throws as {@link PrepareCompatible} */
  plan(
    request: PlannedRequest,
    target: RequestTarget,
    principal: CompatiblePrincipal,
    note: (known: Known) => void,
  ): Promise<Plan>;
}

export function createCompatiblePlans(
  dependencies: Pick<CompatibleInvocationsDependencies, 'planner' | 'providers'>,
): CompatiblePlans {
  const { providers } = dependencies;
  return {
    targetOf(members, { scopes, reach }) {
      const target = readTarget(members, scopes, { list: () => withinReach(providers.list(), reach) });
      const { provider } = 'prompt' in target ? target.prompt : target.model;
      if (provider === undefined || providers.get(provider) !== undefined) return target;
      throw modelNotFound(`There is no provider ${JSON.stringify(provider)}.`, 'names no provider of this service');
    },
    async plan(request, target, principal, note) {
      const plan = await makePlan(request, target, principal, note, dependencies);
      requireSupported(plan, request.unsupportedBy);
      return plan;
    },
  };
}

/** The part of a request that a plan depends on, besides its target. */
type PlannedRequest = Omit<CompatibleRequest, 'target' | 'operation' | 'isStreamed' | 'tags'>;

async function makePlan(
  { generation, extra, messagesAt, limitAt, places, original }: PlannedRequest,
  target: RequestTarget,
  { scopes, reach }: CompatiblePrincipal,
  note: (known: Known) => void,
  { planner, providers }: Pick<CompatibleInvocationsDependencies, 'planner' | 'providers'>,
): Promise<Plan> {
  try {
    if ('prompt' in target) {
      const hasTools = generation.tools !== undefined || generation.toolChoice !== undefined;
      if (hasTools && !scopes.has('providers:invoke')) throw insufficientScope('providers:invoke');
      // A format of the request takes the place of the prompt's, and is not checked, as without a prompt.
      const { messages, ...overrides } = generation;
      return await planner.fromPrompt({
        ...target.prompt,
        messages,
        overrides,
        extra,
        checksSchemas: false,
        reach,
        note,
      });
    }
    if (generation.messages.length === 0) throw conflict(messagesAt, 'is required without a stored prompt');
    if (limitAt !== undefined && generation.parameters?.max_output_tokens === undefined) {
      throw conflict(limitAt, 'is required without a stored prompt');
    }
    note(target.model);
    const { provider: id, model } = target.model;
    const isOriginal = original !== undefined && providers.get(id)?.originalApi === original.api;
    return await planner.direct({
      provider: id,
      request: { model, ...generation, ...(isOriginal && { original: original.make() }) },
      // The text that goes out has these members itself.
      extra: isOriginal ? {} : extra,
      reach,
    });
  } catch (error) {
    throw atOwnPlaces(error, [...places, ...commonPlaces, placeOfExtra(extra)]);
  }
}

/**
 * Only the selected provider has to take all of the request. What a fallback does not take is left out when it is called.
 *
 * @throws {ProblemError} unsupported-by-provider
 */
function requireSupported({ targets: [target] }: Plan, unsupportedBy: CompatibleRequest['unsupportedBy']): void {
  if (target === undefined || unsupportedBy === undefined) return;
  supportedTargets(
    [{ target, unsupported: unsupportedBy(target.provider.id, target.request.original !== undefined) }],
    'refuse',
    (pointer) => pointer,
  );
}

/** The places that all of these APIs have. */
const commonPlaces: Places = [
  [/^#\/(?:provider|model)$/, '#/model'],
  [/^#\/(variables|version)(?=\/|$)/, '#/prompt/$1'],
  [/^#\/label$/, '#/prompt/version'],
];

/** Where a member is that became an option of the provider. */
function placeOfExtra(extra: JsonObject): Places[number] {
  return [
    /^#\/provider_options\/[^/]+\/(\w+)/,
    (pointer, option = '') => {
      const name = Object.keys(extra).find((member) => member === option || inCamelCase(member) === option);
      return name === undefined ? pointer : `#/${name}`;
    },
  ];
}

interface ServedHeaders {
  readonly 'X-Invocation-Id': string;
  readonly 'X-Provider': string;
  readonly 'X-Model': string;
  readonly 'X-Served-Version'?: number;
}

/** The headers of an answer that say what ran. @param first the answer, or the first event of its stream if it came in time */
export function servedHeaders(
  { id, plan }: Invocation<Plan>,
  first: Answering | GeneratedEvent | undefined,
): ServedHeaders {
  const { provider, model } = answeringIn(plan, first);
  return {
    'X-Invocation-Id': id,
    'X-Provider': provider,
    'X-Model': model,
    ...(plan.prompt !== undefined && { 'X-Served-Version': plan.prompt.version }),
  };
}
