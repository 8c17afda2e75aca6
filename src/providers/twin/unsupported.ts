import { createHash } from 'node:crypto';
import type { LanguageModelV4, SharedV4Warning } from '@ai-sdk/provider';
import { LRUCache } from 'lru-cache';
import type { Content, GenerateRequest, Message, Parameters } from '../language-model.ts';
import type { Fetch } from '../transport/http.ts';
import type { Unsupported } from '../provider.ts';
import { exactObject } from '../transport/tool-arguments.ts';
import { imageUrlsOf, prepareSdkCall, takesImage, type SdkProvider } from '../call/request.ts';

/**
 * A `fetch` for twin models. It sends nothing and answers with an event stream that ends at once. For a signal in
 * `recordings` it only notes the body, which costs a tenth.
 */
export const twinFetch: Fetch = async (_url, { body, signal } = {}) => {
  const recording = signal ? recordings.get(signal) : undefined;
  if (recording === undefined) return new Response('', { headers: { 'content-type': 'text/event-stream' } });
  recording.body = String(body);
  throw new Error('Nothing is sent.');
};

const recordings = new WeakMap<AbortSignal, { body?: string }>();

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
  return async (request) => {
    if (isTextOnly(request)) return [];
    const mistakes = twin.dialect.argumentObjects === undefined ? [] : findArguments(request.messages);
    const { request: shape, positions } = toShape(request);
    // A digest, because schemas can be long.
    const key = createHash('sha256').update(JSON.stringify(shape)).digest('base64');
    const known = found.get(key) ?? (await find(twin, shape));
    found.set(key, known);
    const places = known.flatMap(({ member, detail }) =>
      (member === 'messages' ? toolMessages(request.messages) : [inRequest(member, positions)]).map((place) => ({
        member: place,
        detail,
      })),
    );
    return [...mistakes, ...places];
  };
}

/** Arguments of calls that are not an object, for providers that take nothing else. */
function findArguments(messages: readonly Message[]): Unsupported[] {
  return messages.flatMap((message, index) =>
    message.role !== 'assistant'
      ? []
      : (message.toolCalls ?? []).flatMap((call, at) =>
          exactObject(call.arguments)
            ? []
            : [
                {
                  member: `messages/${index}/tool_calls/${at}/arguments`,
                  detail: 'The provider takes only a JSON object as the arguments of a call.',
                  isNeeded: true,
                },
              ],
        ),
  );
}

/** Where calls of tools and their results are. */
function toolMessages(messages: readonly Message[]): string[] {
  return messages.flatMap((message, index) =>
    message.role === 'tool' || (message.role === 'assistant' && message.toolCalls) ? [`messages/${index}`] : [],
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
  const images = findImages(request, await imageUrlsOf(model, twin.dialect));
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

/** Whether the package sends the schema of the format as a function that the model has to call. Nothing is sent. */
export async function isFormatFunction(twin: SdkProvider, request: GenerateRequest): Promise<boolean> {
  const { responseFormat } = request;
  if (responseFormat?.type !== 'json' || responseFormat.schema === undefined) return false;
  const [whole, rest] = await Promise.all([
    bodyOf(twin, request),
    bodyOf(twin, without(request, 'responseFormat') as GenerateRequest),
  ]);
  return whole !== undefined && rest !== undefined && functionsIn(whole) !== functionsIn(rest);
}

/** The functions in a request, as all of the APIs name them. */
function functionsIn(body: string): string {
  const { tools, toolConfig } = JSON.parse(body) as { tools?: unknown; toolConfig?: { tools?: unknown } };
  return JSON.stringify([tools ?? [], toolConfig?.tools ?? []]);
}

/** What would be sent; undefined if the package refuses the request. */
async function bodyOf(twin: SdkProvider, request: GenerateRequest): Promise<string | undefined> {
  const recording: { body?: string } = {};
  const { signal } = new AbortController();
  recordings.set(signal, recording);
  try {
    const { model, options } = await prepareSdkCall(twin, request);
    await model.doGenerate({ ...options, abortSignal: signal });
  } catch {
    // Either the end of the recording, or the package's refusal.
  }
  return recording.body;
}

async function warningsOf(twin: SdkProvider, request: GenerateRequest): Promise<readonly SharedV4Warning[]> {
  try {
    const { model, options } = await prepareSdkCall(twin, request);
    const reader = (await model.doStream(options)).stream.getReader();
    const { value: first } = await reader.read();
    void reader.cancel().catch(() => {});
    return first?.type === 'stream-start' ? first.warnings : [];
  } catch {
    return [];
  }
}

/** Images that are in another place than a user message, or at an address that the provider does not open. */
function findImages({ messages }: GenerateRequest, imageUrls: readonly RegExp[]): Unsupported[] {
  const misplaced = imagesOf(messages, (role) => role !== 'user');
  const closed = imagesOf(messages, (role, url) => role === 'user' && !takesImage(url, imageUrls));
  return [
    ...misplaced.map((member) => ({ member, detail: 'Only user messages can have images.' })),
    ...closed.map((member) => ({
      member,
      detail: 'The provider does not open images by their address. Send the image as a data URL.',
    })),
  ];
}

/** The request without one of its members. Members whose value is what every provider does anyway are left out. */
function variants(
  request: GenerateRequest,
  { id, dialect }: SdkProvider,
): { members: string[]; request: GenerateRequest }[] {
  const { parameters = {}, responseFormat, tools = [], toolChoice, providerOptions = {} } = request;
  const list: { members: string[]; request: GenerateRequest }[] = [];

  for (const name of Object.keys(parameters) as (keyof Parameters)[]) {
    if (name === 'parallel_tool_calls' && (parameters[name] || tools.length === 0)) continue;
    list.push({ members: [`parameters/${name}`], request: { ...request, parameters: without(parameters, name) } });
  }
  for (const name of Object.keys(providerOptions)) {
    const members = [`provider_options/${id}/${name}`];
    list.push({ members, request: { ...request, providerOptions: without(providerOptions, name) } });
  }
  if (responseFormat?.type === 'json') {
    const members = ['response_format'];
    list.push({ members, request: without(request, 'responseFormat') });
    if (responseFormat.schema) {
      const loose = without(responseFormat, 'schema');
      list.push({ members: ['response_format/schema'], request: { ...request, responseFormat: loose } });
      // Where the package has no such option, the provider always holds the schema.
      if (responseFormat.strict && dialect.strictJsonSchema) {
        const lax = without(responseFormat, 'strict');
        list.push({ members: ['response_format/strict'], request: { ...request, responseFormat: lax } });
      }
    }
  }
  // Without a choice between them, tools need not be sent.
  if (tools.length > 0 && toolChoice !== 'none') {
    const { tools: _tools, toolChoice: _toolChoice, ...rest } = request;
    list.push({ members: ['tools'], request: rest });
    const strict = tools.flatMap((tool, index) => (tool.strict ? [`tools/${index}/strict`] : []));
    if (strict.length > 0) {
      list.push({ members: strict, request: { ...request, tools: tools.map((tool) => without(tool, 'strict')) } });
    }
    if (toolChoice !== undefined && toolChoice !== 'auto') {
      list.push({ members: ['tool_choice'], request: without(request, 'toolChoice') });
    }
  }
  for (const isOfKind of [isAddress, isData]) {
    const members = imagesOf(request.messages, (role, url) => role === 'user' && isOfKind(url));
    if (members.length === 0) continue;
    const messages = request.messages.map((message) =>
      message.role === 'user' ? { ...message, content: withoutImages(message.content, isOfKind) } : message,
    );
    list.push({ members, request: { ...request, messages } });
  }
  return list;
}

const isData = (url: string): boolean => url.startsWith('data:');
const isAddress = (url: string): boolean => !isData(url);

/** The paths of images. */
function imagesOf(messages: readonly Message[], isMeant: (role: Message['role'], url: string) => boolean): string[] {
  return messages.flatMap(({ role, content }, index) =>
    typeof content === 'string'
      ? []
      : content.flatMap((part, position) =>
          part.type === 'image' && isMeant(role, part.url) ? [`messages/${index}/content/${position}`] : [],
        ),
  );
}

function withoutImages(content: Content, isOfKind: (url: string) => boolean): Content {
  if (typeof content === 'string') return content;
  return content.filter((part) => part.type === 'text' || !isOfKind(part.url));
}

function without<T extends object, Name extends keyof T>(value: T, name: Name): Omit<T, Name> {
  const { [name]: _left, ...rest } = value;
  return rest;
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
  return { member, detail: detail ?? 'The provider does not support it.' };
}

/** What decides about support: the request without texts, and each kind of message once. */
interface Shape {
  readonly request: GenerateRequest;
  /** Where each message of the shape is in the request. */
  readonly positions: readonly number[];
}

/** Conversations grow by messages of the same few kinds, so their shapes are soon known. */
function toShape(request: GenerateRequest): Shape {
  const shapes = toMessageShapes(request.messages);
  const seen = new Set<string>();
  const positions = [...shapes.keys()].filter((index) => {
    const shape = shapes[index];
    if (hasImage(shape)) return true;
    const key = JSON.stringify(shape);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew || index === shapes.length - 1;
  });
  const messages = positions.flatMap((index) => shapes[index] ?? []);
  return { request: { ...request, messages }, positions };
}

function hasImage(message: Message | undefined): boolean {
  return Array.isArray(message?.content) && message.content.some(({ type }: { type: string }) => type === 'image');
}

/** Ids of calls are numbered in each message; all calls are of one tool. */
function toMessageShapes(messages: readonly Message[]): Message[] {
  const ids = new Map<string, string>();
  return messages.map((message) => {
    const content = toContentShape(message.content);
    switch (message.role) {
      case 'tool':
        return { ...message, toolCallId: ids.get(message.toolCallId) ?? 'call0', toolName: 'tool', content: 'text' };
      case 'assistant': {
        const toolCalls = message.toolCalls?.map(({ id }, index) => {
          ids.set(id, `call${index}`);
          return { id: `call${index}`, name: 'tool', arguments: '{}' };
        });
        return { role: message.role, content, ...(toolCalls && { toolCalls }) };
      }
      default:
        return { role: message.role, content };
    }
  });
}

function toContentShape(content: Content): Content {
  if (typeof content === 'string') return 'text';
  return content.map((part) => {
    if (part.type === 'text') return { type: 'text', text: 'text' };
    const [head = part.url] = /^data:[^,]*,/.exec(part.url) ?? [];
    return { type: 'image', url: head === part.url ? part.url : `${head}iVBORw0KGgo=` };
  });
}

function isTextOnly({ messages, model: _model, ...rest }: GenerateRequest): boolean {
  return (
    Object.values(rest).every((member) => member === undefined || Object.keys(member).length === 0) &&
    messages.every((message) => {
      if (message.role === 'tool' || (message.role === 'assistant' && message.toolCalls)) return false;
      return typeof message.content === 'string' || message.content.every(({ type }) => type === 'text');
    })
  );
}
