import { hash } from 'node:crypto';
import type { LanguageModelV4, SharedV4Warning } from '@ai-sdk/provider';
import { LRUCache } from 'lru-cache';
import { imageUrlsOf, takesImage } from '../call/request.ts';
import { excessBreakpoints, withoutCacheHints } from '../cache-hints.ts';
import { imagesIn, isDataUrl } from '../images.ts';
import { callsOf, type GenerateRequest, type Message, type Parameters } from '../language-model.ts';
import type { Unsupported } from '../provider.ts';
import { exactObject } from '../transport/tool-arguments.ts';
import type { Dialect, SdkProvider } from '../vendors/vendor.ts';
import { toShape } from './shape.ts';
import { bodyOf, isFormatFunction, warningsOf, without } from './twin.ts';

/** Finds what a provider cannot do. */
export type UnsupportedFinder = (request: GenerateRequest) => Promise<readonly Unsupported[]>;

/**
 * Creates the check for one provider.
 *
 * Packages tell what they do not support only together with an answer, and leave out other members without a word. So
 * the request is run on a twin model that sends nothing, once as it is, and once without each member. A member is
 * unsupported if the package says so, if it refuses the request because of it, or if what it would send is the same
 * without it.
 *
 * @param twin The provider with `twinFetch`
 */
export function createUnsupportedFinder(twin: SdkProvider): UnsupportedFinder {
  const found = new LRUCache<string, readonly Unsupported[]>({ max: 500 });
  return async (asked) => {
    const excess = excessBreakpoints(asked, twin.dialect).map(({ member }) => ({
      member,
      detail: `The provider takes at most ${twin.dialect.promptCache?.most} breakpoints of its cache.`,
    }));
    // What is found holds for any of them, and keys of caches differ between users.
    const request = withoutCacheHints(asked);
    if (isTextOnly(request)) return excess;
    const mistakes = twin.dialect.argumentObjects === undefined ? [] : findArguments(request.messages);
    const { request: shape, positions } = toShape(request);
    // A digest, because schemas can be long.
    const key = hash('sha256', JSON.stringify(shape), 'base64');
    const known = found.get(key) ?? (await find(twin, shape));
    found.set(key, known);
    const places = known.flatMap(({ member, detail }) =>
      (member === 'messages' ? toolMessages(request.messages) : [inRequest(member, positions)]).map((place) => ({
        member: place,
        detail,
      })),
    );
    return [...excess, ...mistakes, ...places];
  };
}

/** Arguments of calls that are not an object, for providers that take nothing else. */
function findArguments(messages: readonly Message[]): Unsupported[] {
  const detail = 'The provider takes only a JSON object as the arguments of a call.';
  return messages.flatMap((message, index) => {
    return callsOf(message).flatMap((call, at) => {
      const member = `messages/${index}/tool_calls/${at}/arguments`;
      return exactObject(call.arguments) ? [] : [{ member, detail, isNeeded: true }];
    });
  });
}

/** Where calls of tools and their results are. */
function toolMessages(messages: readonly Message[]): string[] {
  return messages.flatMap((message, index) =>
    message.role === 'tool' || callsOf(message).length > 0 ? [`messages/${index}`] : [],
  );
}

function inRequest(member: string, positions: readonly number[]): string {
  return member.replace(/^messages\/(\d+)/, (_, index: string) => `messages/${positions[Number(index)]}`);
}

async function find(twin: SdkProvider, request: GenerateRequest): Promise<readonly Unsupported[]> {
  let model: LanguageModelV4;
  try {
    model = (await twin.models())(request.model);
  } catch {
    // The call itself will say why there is no such model.
    return [];
  }
  const images = findImages(request, await imageUrlsOf(model, twin.dialect), twin.dialect);
  const whole = await bodyOf(twin, request);
  const warnings = whole === undefined ? [] : await warningsOf(twin, request);
  const said = warnings.flatMap((warning) => toMember(warning, twin.id) ?? []);
  const seen = await Promise.all(
    variants(request, twin).map(async ({ members, request: rest }) => {
      const other = await bodyOf(twin, rest);
      const isCause = whole === undefined ? other !== undefined : whole === other;
      return isCause ? members.map((member) => ({ member, detail: 'The provider does not support it.' })) : [];
    }),
  );
  const lax = (await isStrictInVain(twin, request))
    ? [{ member: 'response_format/strict', detail: 'The provider gets the schema as a function, which is not strict.' }]
    : [];
  const found = new Map([...seen.flat(), ...said, ...images, ...lax].map((entry) => [entry.member, entry]));
  if (whole === undefined && found.size === 0) {
    return [{ member: '', detail: 'The provider does not support this combination.' }];
  }
  // Either a member or a part of it. A part that is refused says more than the whole; of a member that is left out
  // without a word, no part is sent.
  const isSeen = new Set(seen.flat().map(({ member }) => member));
  // There can be as many as a request has images.
  const wholes = new Set([...found.keys()].flatMap(wholesOf));
  return [...found.values()].filter(({ member }) =>
    whole === undefined || !isSeen.has(member)
      ? !wholes.has(member)
      : !wholesOf(member).some((other) => isSeen.has(other)),
  );
}

/** What a member is a part of: `a` and `a/b` for `a/b/c`. */
function wholesOf(member: string): string[] {
  const steps = member.split('/');
  return steps.slice(1).map((_, index) => steps.slice(0, index + 1).join('/'));
}

/** Whether a strict format becomes a function. Where it does not, and has no such option, the provider is strict. */
async function isStrictInVain(twin: SdkProvider, request: GenerateRequest): Promise<boolean> {
  const { responseFormat } = request;
  const isStrict = responseFormat?.type === 'json' && responseFormat.strict === true;
  return isStrict && !twin.dialect.strictJsonSchema && (await isFormatFunction(twin, request));
}

/** Images that are in a message that can have none, or at an address that the provider does not open. */
function findImages(
  { messages }: GenerateRequest,
  imageUrls: readonly RegExp[],
  { resultImages }: Pick<Dialect, 'resultImages'>,
): Unsupported[] {
  return imagesIn(messages).flatMap(({ message, url, member }) => {
    if (message.role === 'tool' && resultImages) {
      if (message.isError) return [{ member, detail: 'The result of a tool that failed can only be text.' }];
    } else if (message.role !== 'user') {
      const detail =
        message.role === 'tool' ? 'The result of a tool can only be text.' : 'Only user messages can have images.';
      return [{ member, detail }];
    }
    const detail = 'The provider does not open images by their address. Send the image as a data URL.';
    return takesImage(url, imageUrls) ? [] : [{ member, detail }];
  });
}

interface Variant {
  /** What it is without. */
  readonly members: readonly string[];
  readonly request: GenerateRequest;
}

/** The request without one of its members. Members whose value is what every provider does anyway are left out. */
function variants(request: GenerateRequest, { id, dialect }: SdkProvider): Variant[] {
  const { messages, parameters = {}, responseFormat, tools = [], toolChoice, providerOptions = {} } = request;
  const list: Variant[] = [];
  const add = (members: string | readonly string[], changed: GenerateRequest): void => {
    list.push({ members: [members].flat(), request: changed });
  };

  for (const name of Object.keys(parameters) as (keyof Parameters)[]) {
    if (name === 'parallel_tool_calls' && (parameters[name] || tools.length === 0)) continue;
    add(`parameters/${name}`, { ...request, parameters: without(parameters, name) });
  }
  for (const name of Object.keys(providerOptions)) {
    add(`provider_options/${id}/${name}`, { ...request, providerOptions: without(providerOptions, name) });
  }
  if (responseFormat?.type === 'json') {
    add('response_format', without(request, 'responseFormat'));
    if (responseFormat.schema) {
      add('response_format/schema', { ...request, responseFormat: without(responseFormat, 'schema') });
      // Where the package has no such option, the provider always holds the schema.
      if (responseFormat.strict && dialect.strictJsonSchema) {
        add('response_format/strict', { ...request, responseFormat: without(responseFormat, 'strict') });
      }
    }
  }
  // Without a choice between them, tools need not be sent.
  if (tools.length > 0 && toolChoice !== 'none') {
    add('tools', without(without(request, 'tools'), 'toolChoice'));
    const strict = tools.flatMap((tool, index) => (tool.strict ? [`tools/${index}/strict`] : []));
    if (strict.length > 0) add(strict, { ...request, tools: tools.map((tool) => without(tool, 'strict')) });
    if (toolChoice !== undefined && toolChoice !== 'auto') add('tool_choice', without(request, 'toolChoice'));
  }
  for (const isData of [false, true]) {
    const isOfKind = (url: string): boolean => isDataUrl(url) === isData;
    const images = imagesIn(messages).filter(({ message, url }) => message.role === 'user' && isOfKind(url));
    if (images.length === 0) continue;
    const members = images.map(({ member }) => member);
    add(members, { ...request, messages: messages.map((message) => withoutImages(message, isOfKind)) });
  }
  return list;
}

function withoutImages(message: Message, isOfKind: (url: string) => boolean): Message {
  if (message.role !== 'user' || typeof message.content === 'string') return message;
  return { ...message, content: message.content.filter((part) => part.type === 'text' || !isOfKind(part.url)) };
}

/** The names that the packages have for members of a request. */
const membersOfFeatures: ReadonlyMap<string, string> = new Map([
  ['temperature', 'parameters/temperature'],
  ['topP', 'parameters/top_p'],
  ['topK', 'parameters/top_k'],
  ['maxOutputTokens', 'parameters/max_output_tokens'],
  ['stopSequences', 'parameters/stop'],
  ['seed', 'parameters/seed'],
  ['presencePenalty', 'parameters/presence_penalty'],
  ['frequencyPenalty', 'parameters/frequency_penalty'],
  ['reasoning', 'parameters/reasoning_effort'],
  ['responseFormat', 'response_format'],
  ['toolChoice', 'tool_choice'],
  ['toolContent', 'messages'],
]);

function toMember(warning: SharedV4Warning, provider: string): Unsupported | undefined {
  // What is only written in another way keeps its meaning.
  if (warning.type === 'compatibility' || warning.type === 'other') return undefined;
  // Found without the warning, which also comes for tools that are not strict.
  if (warning.type === 'unsupported' && warning.feature === 'strict') return undefined;
  const [feature, detail] =
    warning.type === 'unsupported' ? [warning.feature, warning.details] : [warning.setting, warning.message];
  const member =
    membersOfFeatures.get(feature) ?? (feature.includes('tool') ? 'tools' : `provider_options/${provider}`);
  // Beside the name of the member in the request, that of the package says nothing.
  const words = detail?.startsWith(`${feature} `) ? detail.slice(feature.length + 1) : detail;
  return { member, detail: words ?? 'The provider does not support it.' };
}

function isTextOnly({ messages, model: _model, ...rest }: GenerateRequest): boolean {
  return (
    Object.values(rest).every((member) => member === undefined || Object.keys(member).length === 0) &&
    messages.every((message) => {
      if (message.role === 'tool') return false;
      return typeof message.content === 'string' || message.content.every(({ type }) => type === 'text');
    })
  );
}
