import { isDeepStrictEqual } from 'node:util';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { isHintOption } from '../../models/cache-hints.ts';
import type { GenerateRequest, JsonObject, Message, Parameters } from '../../models/language-model.ts';
import { optionsOfMembers } from '../../models/provider-options.ts';
import type { Unsupported } from '../../models/provider.ts';
import type { Target } from './plan.ts';

/** What happens if a provider cannot do something: the request is refused, or what it cannot do is left out. */
export type UnsupportedPolicy = 'refuse' | 'ignore';

/** What one target cannot do. */
export interface TargetLimits {
  readonly target: Target;
  readonly unsupported: readonly Unsupported[];
}

/**
 * Asks the providers of all targets. Nothing is sent.
 *
 * @param extra members that only some providers have, by their names in the bodies of these
 */
export async function findUnsupported(targets: readonly Target[], extra: JsonObject = {}): Promise<TargetLimits[]> {
  const limits = targets.map((target) => withExtra(target, extra));
  return Promise.all(
    limits.map(async ({ target, unsupported }) =>
      withoutDefaults({
        target,
        unsupported: [...unsupported, ...(await target.provider.unsupported(target.request))],
      }),
    ),
  );
}

/** The values of parameters that mean the same as leaving them out. Some SDKs always send them. */
const defaults: Parameters = { temperature: 1, top_p: 1, top_k: 0, presence_penalty: 0, frequency_penalty: 0 };

/** The same of members that only some providers have. */
const extraDefaults: JsonObject = {
  min_p: 0,
  typical_p: 1,
  repetition_penalty: 1,
  safe_prompt: false,
  thinking: { type: 'disabled' },
};

/** Where the provider refuses a parameter, its default is left out. */
function withoutDefaults({ target, unsupported }: TargetLimits): TargetLimits {
  const { parameters = {} } = target.request;
  const isDefault = ({ member }: Unsupported): boolean => {
    const [holder, name = ''] = member.split('/');
    return holder === 'parameters' && hasDefault(defaults, parameters, name);
  };
  const left = unsupported.filter(isDefault).map(({ member }) => member.split('/'));
  if (left.length === 0) return { target, unsupported };
  const request = without(target.request, left) as GenerateRequest;
  return { target: { ...target, request }, unsupported: unsupported.filter((one) => !isDefault(one)) };
}

function hasDefault(known: object, sent: object, name: string): boolean {
  const [value, given] = [known, sent].map((members) => new Map(Object.entries(members)).get(name));
  return value !== undefined && isDeepStrictEqual(value, given);
}

/** The target with members of its provider. Those that others have too are parameters, if it does not have them. */
function withExtra(target: Target, extra: JsonObject): TargetLimits {
  if (Object.keys(extra).length === 0) return { target, unsupported: [] };
  const { provider, request } = target;
  const { options, unknown } = optionsOfMembers(provider.id, extra);
  const { top_k } = unknown.includes('top_k') ? (extra as Pick<Parameters, 'top_k'>) : {};
  const missing = unknown.filter(
    (member) => member !== 'top_k' && !isHintOption(member) && !hasDefault(extraDefaults, extra, member),
  );
  return {
    target: {
      ...target,
      request: {
        ...request,
        ...(top_k !== undefined && { parameters: { ...request.parameters, top_k } }),
        ...(Object.keys(options).length > 0 && { providerOptions: { ...request.providerOptions, ...options } }),
      },
    },
    unsupported: missing.map((member) => ({ member, detail: 'The provider does not support it.' })),
  };
}

/**
 * Targets that can do everything that is asked of them.
 *
 * @param policy refused if left out
 * @param pointerOf the place of a member in the caller's request, as a JSON pointer in a URI fragment
 * @throws {ProblemError} unsupported-by-provider for the first target that cannot do something. With `ignore` this is
 *   left out, unless it is needed or no message would be left. A schema is only left out of the request: the answer is still checked
 *   against it.
 */
export function supportedTargets(
  limits: readonly TargetLimits[],
  policy: UnsupportedPolicy | undefined,
  pointerOf: (member: string) => string,
): Target[] {
  return limits.map(({ target, unsupported }) => {
    if (unsupported.length === 0) return target;
    const reduced = policy === 'ignore' ? leaveOut(target, unsupported) : undefined;
    if (reduced !== undefined) return reduced;
    const { provider, request } = target;
    throw new ProblemError('unsupported-by-provider', {
      detail: `The provider ${JSON.stringify(provider.id)} cannot do everything that the request asks for.`,
      errors: unsupported.map(({ member, detail }) => ({ detail, pointer: pointerOf(member) })),
      extensions: { provider: provider.id, model: request.model },
    });
  });
}

/** Members that have another name here than in the contract. */
const names: Readonly<Partial<Record<string, keyof GenerateRequest>>> = {
  response_format: 'responseFormat',
  tool_choice: 'toolChoice',
  provider_options: 'providerOptions',
};

/** The target without these members; undefined if nothing can be asked without them. */
function leaveOut(target: Target, unsupported: readonly Unsupported[]): Target | undefined {
  const { request } = target;
  if (unsupported.some(({ isNeeded }) => isNeeded)) return undefined;
  const paths = unsupported.map(({ member }) => {
    const [first = '', ...rest] = member.split('/');
    // A request has only the options of its provider.
    return [names[first] ?? first, ...(first === 'provider_options' ? rest.slice(1) : rest)];
  });
  if (paths.some(([first]) => first === '')) return undefined;
  const { messages = [], ...reduced } = without(request, paths) as Partial<GenerateRequest>;
  const { tools = [], toolChoice, parameters = {}, providerOptions = {}, responseFormat } = reduced;
  const left = messages.filter(saysSomething);
  if (left.length === 0) return undefined;
  const isSchemaLeftOut = responseFormat !== undefined && !isDeepStrictEqual(responseFormat, request.responseFormat);
  return {
    ...target,
    request: {
      model: request.model,
      messages: left,
      ...(Object.keys(parameters).length > 0 && { parameters }),
      ...(responseFormat !== undefined && { responseFormat }),
      ...(tools.length > 0 && { tools, ...(toolChoice !== undefined && { toolChoice }) }),
      ...(Object.keys(providerOptions).length > 0 && { providerOptions }),
    },
    ...(isSchemaLeftOut && request.responseFormat !== undefined && { answerFormat: request.responseFormat }),
  };
}

function saysSomething(message: Message): boolean {
  return message.role === 'tool' || message.content.length > 0;
}

/** A copy of a JSON value without what is at these paths. */
function without(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (typeof value !== 'object' || value === null || paths.length === 0) return value;
  const isRemoved = (name: string): boolean => paths.some((path) => path.length === 1 && path[0] === name);
  const inside = (name: string): (readonly string[])[] =>
    paths.filter(([first]) => first === name).map((path) => path.slice(1));
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return items.flatMap((item, index) => (isRemoved(String(index)) ? [] : [without(item, inside(String(index)))]));
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (isRemoved(name) ? [] : [[name, without(member, inside(name))]])),
  );
}
