import { ProblemError } from '../../base/errors/problem-error.ts';
import { requireUsable } from '../content-rules.ts';
import type { Draft, Fallback, Overrides, PromptContent, PromptGeneration } from '../prompt.ts';
import type { Prompts, ResolvedPrompt, VersionSelection } from '../prompts.ts';
import type { Reach } from '../../base/limits/reach.ts';
import type { GenerateRequest, JsonObject, Message } from '../../models/language-model.ts';
import { findImageMistakes } from '../../models/images.ts';
import { textsIn, vectorsOf, type EmbeddingRequest } from '../../models/vectors.ts';
import { selectProviderOptions } from '../../models/provider-options.ts';
import type { ProviderRegistry, Unsupported } from '../../models/provider.ts';
import { withDraft, withOverrides } from './overrides.ts';
import { withHeldOutput, withOutputLimit } from './output-limit.ts';
import type { Known, Plan, Target } from './plan.ts';
import { renderPrompt } from './render-prompt.ts';
import {
  requireProvider,
  requireProviders,
  requireReachable,
  selectModel,
  withFallbacks,
  type SelectedModel,
} from './select-targets.ts';
import { findUnsupported, supportedTargets, type TargetLimits, type UnsupportedPolicy } from './supported.ts';

interface StoredPrompt extends VersionSelection {
  readonly slugOrId: string;
  /** The variables by name, as parsed from JSON. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  /** What happens if a provider cannot do something. Refused if left out. */
  readonly unsupported?: UnsupportedPolicy | undefined;
  /** What the caller may reach; undefined without limits. */
  readonly reach: Reach | undefined;
  /** Called with the version, and with the selected provider and model, as soon as they are known. */
  readonly note: (known: Known) => void;
}

export interface PromptRequest extends StoredPrompt {
  /** Changes of the version, for this request only. */
  readonly draft?: Draft | undefined;
  /** What the request replaces in the content of the prompt. */
  readonly overrides?: Overrides | undefined;
  /** With `model`, overrides the selection of the version that runs; see `selectModel`. */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /**
   * Messages that follow those of the prompt, as they are. As a function it is called after what comes before it in the
   * order of problems, and can throw them.
   */
  readonly messages?: readonly Message[] | (() => readonly Message[]) | undefined;
  /** Members that only some providers have: see `findUnsupported`. */
  readonly extra?: JsonObject | undefined;
  /** False if the request's own format is passed on without a check, so that its JSON Schemas can be any. */
  readonly checksSchemas?: boolean | undefined;
}

export interface ComparisonRequest extends StoredPrompt {
  /** With the version that runs, if it is not that of the request. */
  readonly targets: readonly (Fallback & { readonly version?: number })[];
}

export interface DirectRequest {
  readonly provider: string;
  readonly request: GenerateRequest;
  /** Members that only some providers have: see `findUnsupported`. */
  readonly extra?: JsonObject | undefined;
  readonly unsupported?: UnsupportedPolicy | undefined;
  /** What the caller may reach; undefined without limits. */
  readonly reach: Reach | undefined;
}

export interface VectorRequest extends Pick<DirectRequest, 'provider' | 'reach'> {
  readonly model: string;
  readonly embedding: EmbeddingRequest;
}

/** A plan that uses a stored prompt. */
export type PromptPlan = Plan & Pick<Required<Plan>, 'prompt'>;

/** A request with all that it would send. */
export interface Preview extends Pick<PromptPlan, 'prompt' | 'unknownVariables'> {
  /** The version, with its placeholders. */
  readonly content: PromptContent;
  /** What each target cannot do, and what it gets in another form. At least one; all have the same messages. */
  readonly limits: readonly PreviewedTarget[];
}

export interface PreviewedTarget extends TargetLimits {
  readonly rewritten: readonly Unsupported[];
}

/** A stored prompt for several targets. */
export interface Comparison extends Pick<PromptPlan, 'prompt' | 'unknownVariables'> {
  /** One for each target, in their order, without fallbacks. */
  readonly plans: readonly Plan[];
}

/** A request before it is known whether the targets can do it. */
interface Composed extends Omit<Preview, 'limits'>, Pick<Plan, 'retries' | 'variables' | 'promptMessages'> {
  readonly limits: readonly TargetLimits[];
  readonly pointerOf: (member: string) => string;
}

/**
 * Decides what is sent to whom, and checks it. Nothing is sent. What the caller may reach is checked here for every path
 * to a provider.
 */
export interface Planner {
  /**
   * A stored prompt, with overrides. If the request names a label with a canary, a draw decides on the version.
   *
   * @throws {ProblemError} In this order: prompt-not-found, version-not-found, unknown-label; missing-variables,
   *   unknown-variables, rendered-prompt-too-large; inconsistent-content, unknown-provider, invalid-provider-option,
   *   invalid-schema of an override; no-provider-selected, unknown-provider, provider-not-configured, also of the
   *   fallbacks; beyond-limits; those of `messages`; image-not-allowed; unsupported-by-provider
   */
  fromPrompt(request: PromptRequest): Promise<PromptPlan>;
  /** The same without asking whether the targets can do it. @throws {ProblemError} all but unsupported-by-provider */
  preview(request: PromptRequest): Promise<Preview>;
  /**
   * A stored prompt on each of several targets.
   *
   * @throws {ProblemError} as `fromPrompt`; the providers are named by pointers into `providers`
   */
  compare(request: ComparisonRequest): Promise<Comparison>;
  /**
   * A request to a provider, without a stored prompt. Its answer is not checked, so its JSON Schemas can be any.
   *
   * @throws {ProblemError} unknown-provider, provider-not-configured; beyond-limits; inconsistent-content,
   *   invalid-provider-option; image-not-allowed; unsupported-by-provider
   */
  direct(request: DirectRequest): Promise<Plan>;
  /**
   * A request for vectors.
   *
   * @throws {ProblemError} unknown-provider, provider-not-configured; beyond-limits; unsupported-by-provider;
   *   conflicting-members for more inputs than the provider takes
   */
  embed(request: VectorRequest): Promise<Plan>;
}

export interface PlannerDependencies {
  readonly prompts: Pick<Prompts, 'resolve'>;
  readonly providers: Pick<ProviderRegistry, 'get'>;
}

export function createPlanner({ prompts, providers }: PlannerDependencies): Planner {
  const isKnownProvider = (id: string): boolean => providers.get(id) !== undefined;

  const find = async (
    { slugOrId, draft, label, note, ...selection }: StoredPrompt & Pick<PromptRequest, 'draft'>,
    draws = false,
  ) => {
    const found = await prompts.resolve(slugOrId, { label, draws: draws && draft === undefined, ...selection });
    const { id, slug, version, content, invocationContent, canary } = found;
    const ran = draft === undefined ? version : undefined;
    note({ prompt: id, version: ran, slug, label, canary, contentMode: invocationContent });
    return { id, version, content: withDraft(content, draft, { isKnownProvider }) };
  };

  /** The prompt without placeholders. */
  const render = (
    { id, version, content }: Pick<ResolvedPrompt, 'id' | 'version' | 'content'>,
    variables: StoredPrompt['variables'],
  ) => {
    const { messages, used, unknown } = renderPrompt(content, variables);
    return { prompt: { id, version }, content, messages, variables: used, unknownVariables: unknown };
  };

  const compose = async (request: PromptRequest, draws = false): Promise<Composed> => {
    const {
      prompt,
      content: stored,
      messages,
      variables,
      unknownVariables,
    } = render(await find(request, draws), request.variables);
    const { overrides = {}, checksSchemas, reach } = request;
    const content = withOverrides(stored, overrides, { isKnownProvider, checksSchemas });
    const selected = selectModel(providers, stored, request, reach);
    request.note({ provider: selected.provider.id, model: selected.model });
    const selection = withFallbacks(providers, selected, content.fallbacks, { requested: overrides.fallbacks, reach });
    const { messages: appended = [] } = request;
    const all = [...messages, ...(typeof appended === 'function' ? appended() : appended)];
    const targets = selection.map((target) => toTarget(target, all, content, reach));
    const pointerOf = (member: string): string => pointerTo(member, messages.length);
    requireAllowedImages(targets, pointerOf);
    const limits = await findUnsupported(targets, request.extra);
    return {
      ...{ prompt, content: stored, limits, retries: content.retries, variables, unknownVariables, pointerOf },
      promptMessages: messages.length,
    };
  };

  return {
    async preview(request) {
      const { prompt, content, limits, unknownVariables } = await compose(request);
      const targets = limits.map(async (limit) => {
        const { target, unsupported } = await withHeldOutput(limit.target, request.reach);
        const rewritten = await target.provider.rewritten(target.request);
        return { target, unsupported: [...limit.unsupported, ...unsupported], rewritten };
      });
      return { prompt, content, limits: await Promise.all(targets), unknownVariables };
    },

    async fromPrompt(request) {
      const { prompt, limits, retries, variables, promptMessages, unknownVariables, pointerOf } = await compose(
        request,
        true,
      );
      const targets = await held(supportedTargets(limits, request.unsupported, pointerOf), request.reach, pointerOf);
      // What the stored prompt promises holds on every path.
      const checksAnswers = request.checksSchemas !== false || request.overrides?.responseFormat === undefined;
      return { prompt, targets, checksAnswers, retries, variables, promptMessages, unknownVariables };
    },

    async compare(request) {
      const { reach, variables, targets: requested } = request;
      const found = await find(request);
      const ofVersion = new Map<number | undefined, ReturnType<typeof render>>();
      for (const { version } of requested) {
        if (ofVersion.has(version)) continue;
        const ran = version === undefined ? found : await prompts.resolve(found.id, { version, reach });
        ofVersion.set(version, render(ran, variables));
      }
      const renderings = requested.flatMap(({ version }) => ofVersion.get(version) ?? []);
      const selected = requireProviders(providers, requested, reach);
      const targets = renderings.flatMap(({ messages, content }, index) => {
        const target = selected[index];
        return target === undefined ? [] : [toTarget(target, messages, content, reach)];
      });
      for (const target of targets) requireAllowedImages([target], placeOf);
      const limits = await findUnsupported(targets);
      const plans = renderings.map(async ({ content, messages, ...rendered }, index) => {
        const pointerOf = (): string => `#/providers/${index}`;
        return {
          ...rendered,
          promptMessages: messages.length,
          targets: await held(
            supportedTargets(limits.slice(index, index + 1), request.unsupported, pointerOf),
            reach,
            pointerOf,
          ),
          retries: content.retries,
          checksAnswers: true,
        };
      });
      const [first] = renderings;
      // What one of the versions knows is not a mistake.
      const unknownVariables = (first?.unknownVariables ?? []).filter((name) =>
        renderings.every((rendered) => rendered.unknownVariables.includes(name)),
      );
      const prompt = { id: found.id, version: found.version };
      return { prompt, unknownVariables, plans: await Promise.all(plans) };
    },

    async direct({ provider: id, request: asked, extra, unsupported, reach }) {
      const provider = requireProvider(providers, id, { subject: `The provider ${JSON.stringify(id)}` });
      requireReachable(reach, [{ provider, model: asked.model, pointer: '#/model' }]);
      const parameters = withOutputLimit(asked.parameters, reach);
      const request = parameters === undefined ? asked : { ...asked, parameters };
      const { tools, toolChoice, responseFormat, providerOptions } = request;
      const generation = {
        tools,
        toolChoice,
        responseFormat,
        providerOptions: providerOptions && { [id]: providerOptions },
      };
      requireUsable(generation, generation, { isKnownProvider, checksSchemas: false });
      const targets = [{ provider, request }];
      requireAllowedImages(targets, placeOf);
      const limits = await findUnsupported(targets, extra);
      const supported = await held(supportedTargets(limits, unsupported, placeOf), reach, placeOf);
      return { targets: supported, checksAnswers: false, unknownVariables: [] };
    },

    async embed({ provider: id, model, embedding, reach }) {
      const provider = requireProvider(providers, id, {
        subject: `The provider ${JSON.stringify(id)}`,
        pointer: '#/provider',
      });
      requireReachable(reach, [{ provider, model, pointer: '#/model' }]);
      const texts = textsIn(embedding).map((text) => ({ type: 'text' as const, text }));
      const messages = texts.length === 0 ? [] : [{ role: 'user' as const, content: texts }];
      const limits = await findUnsupported([{ provider, request: { model, messages, embedding } }]);
      const targets = supportedTargets(limits, 'refuse', placeOf);
      const most = await provider.mostInputs(model);
      if (vectorsOf(embedding).count > most) throw tooManyInputs(id, most);
      return { targets, checksAnswers: false, unknownVariables: [] };
    },
  };
}

function tooManyInputs(provider: string, most: number): ProblemError {
  const items = most === 1 ? 'item' : 'items';
  return new ProblemError('conflicting-members', {
    detail: 'Members of the request do not fit together.',
    errors: [
      { detail: `must have at most ${most} ${items} for a model of ${JSON.stringify(provider)}`, pointer: '#/input' },
    ],
  });
}

/** @throws {ProblemError} unsupported-by-provider for a provider that cannot be given the caller's limit of tokens */
async function held(
  targets: readonly Target[],
  reach: Reach | undefined,
  pointerOf: (member: string) => string,
): Promise<readonly Target[]> {
  if (reach?.maxOutputTokens === undefined) return targets;
  const limits = await Promise.all(targets.map((target) => withHeldOutput(target, reach)));
  return supportedTargets(limits, 'refuse', pointerOf);
}

/** @param content how the prompt generates */
function toTarget(
  { provider, model }: SelectedModel,
  messages: readonly Message[],
  content: PromptGeneration,
  reach: Reach | undefined,
): Target {
  const { responseFormat, tools = [], toolChoice, providerOptions } = content;
  const parameters = withOutputLimit(content.parameters, reach);
  const options = selectProviderOptions(provider.id, providerOptions);
  return {
    provider,
    request: {
      model,
      messages,
      ...(parameters !== undefined && Object.keys(parameters).length > 0 && { parameters }),
      ...(responseFormat?.type === 'json' && { responseFormat }),
      ...(tools.length > 0 && { tools, ...(toolChoice !== undefined && { toolChoice }) }),
      ...(options !== undefined && { providerOptions: options }),
    },
  };
}

/** @throws {ProblemError} image-not-allowed */
function requireAllowedImages(targets: readonly Target[], pointerOf: (member: string) => string): void {
  // All targets get the same messages.
  const mistakes = findImageMistakes(targets[0]?.request.messages ?? []);
  if (mistakes.length === 0) return;
  throw new ProblemError('image-not-allowed', {
    detail: 'An image of the request cannot be passed on.',
    errors: mistakes.map(({ member, detail }) => ({ detail, pointer: pointerOf(member) })),
  });
}

/** @param member empty for all of the request */
function placeOf(member: string): string {
  return member === '' ? '#' : `#/${member}`;
}

/** The place of a member in an invocation, whose messages follow those of the prompt. */
function pointerTo(member: string, messagesOfPrompt: number): string {
  const [first, index, ...rest] = member.split('/');
  const appended = first === 'messages' ? Number(index) - messagesOfPrompt : -1;
  return placeOf(appended < 0 ? member : ['messages', appended, ...rest].join('/'));
}
