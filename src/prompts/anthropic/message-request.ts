import type { components } from '../../../generated/types.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { findPlaces, type JsonPlaces } from '../../base/runtime/json-places.ts';
import type { JsonPath } from '../../base/runtime/json-pointer.ts';
import { defined, isObject } from '../../base/runtime/objects.ts';
import type {
  AnswerPart,
  CacheHint,
  Content,
  ImagePart,
  JsonObject,
  Message,
  OriginalRequest,
  OriginalSize,
  Parameters,
  ResponseFormat,
  TextPart,
  Tool,
  ToolChoice,
} from '../../models/language-model.ts';
import type { Unsupported } from '../../models/provider.ts';
import type { Places } from '../generation/own-places.ts';
import type { RequestedGeneration } from '../compatible/compatible-invocations.ts';
import { conflict } from '../compatible/target.ts';
import { withoutNulls, type WithoutNulls } from '../compatible/without-nulls.ts';
import { metadataOfRedacted, metadataOfThinking } from './metadata-blocks.ts';

export type MessageCreate = components['schemas']['MessageCreate'];
/** What a message is made of, without how it is answered. */
export type Conversation = Pick<
  MessageCreate,
  | 'system'
  | 'messages'
  | 'tools'
  | 'tool_choice'
  | 'thinking'
  | 'output_config'
  | 'output_format'
  | 'context_management'
>;
type Sent = Conversation &
  Partial<Pick<MessageCreate, 'max_tokens' | 'temperature' | 'top_p' | 'top_k' | 'stop_sequences' | 'cache_control'>>;
/** A request in which what is `null` is left out, at the top and of how it is answered. */
type Body = Omit<WithoutNulls<Sent>, 'output_config'> & {
  readonly output_config: WithoutNulls<NonNullable<Sent['output_config']>>;
};
type Block = Exclude<Sent['messages'][number]['content'], string>[number];
type ResultBlock = Exclude<NonNullable<Block['content']>, string>[number];
type Source = NonNullable<Exclude<Block['source'], string>>;
type SentTool = NonNullable<Sent['tools']>[number];

/** A request of the Messages API, in the form of all requests. */
export interface ReadMessage {
  readonly generation: RequestedGeneration;
  /** Members that only some providers have. */
  readonly extra: JsonObject;
  /** Where members of the request are that others name differently. */
  readonly places: Places;
  /** What only Anthropic's own API can take, by its JSON pointer. */
  readonly onlyAnthropic: readonly Unsupported[];
  /** The blocks of thinking, and those with what belongs to calls, which go back to the provider that wrote them. */
  readonly thinking: readonly ReturnedBlock[];
  /** Measures what the request has, as far as tokens depend on it. */
  readonly size: () => Omit<OriginalSize, 'bytes'> & { readonly imageBytes: number };
}

interface ReturnedBlock {
  readonly pointer: string;
  /** The provider that wrote it; undefined if it has no signature. */
  readonly provider: string | undefined;
  /** Whether it belongs to a call, and means nothing to another provider. */
  readonly isOfCall: boolean;
}

/** The text of a body, and where its members and the arguments of its calls are. */
export interface WrittenBody {
  readonly text: string;
  readonly places: JsonPlaces;
}

/** Reads the text of a body once, when it is needed. */
export function writtenBody(textOf: () => string): () => WrittenBody {
  let body: WrittenBody | undefined;
  return () => {
    if (body !== undefined) return body;
    const text = textOf();
    body = { text, places: findPlaces(text, argumentsPath) };
    return body;
  };
}

/** Where a message, its parts and its calls are in the request. */
interface MessagePlace {
  readonly pointer: string;
  readonly parts: readonly string[];
  readonly calls: readonly string[];
}

/**
 * Translates a request of the Messages API.
 *
 * @param written the body as text: arguments of calls have the numbers as the caller wrote them
 * @throws {ProblemError} conflicting-members with the place: a block in a message of another role, a result without its
 *   call
 */
export function readMessage(sent: Sent, written: () => WrittenBody): ReadMessage {
  const body: Body = { ...withoutNulls(sent), output_config: withoutNulls(sent.output_config ?? {}) };
  const reader = new ConversationReader(written);
  reader.addSystem(body.system);
  for (const [index, message] of body.messages.entries()) reader.addMessage(message, `#/messages/${index}`);
  const { messages, places, thinking } = reader;
  return {
    generation: defined({
      messages,
      parameters: parametersOf(body),
      responseFormat: formatOf(body),
      tools: body.tools?.map(toTool),
      toolChoice: choiceOf(body.tool_choice),
    }),
    extra: extraOf(body),
    places: placesOf(body, places),
    onlyAnthropic: [...reader.onlyAnthropic, ...anthropicOnlyIn(body)],
    thinking,
    size: () => sizeOf(body, reader),
  };
}

/** Gathers messages. A message of the API can become several: results of tools, and what a user says. */
class ConversationReader {
  readonly messages: Message[] = [];
  readonly places: MessagePlace[] = [];
  readonly onlyAnthropic: Unsupported[] = [];
  readonly thinking: ReturnedBlock[] = [];
  images = 0;
  imageBytes = 0;
  /** Of documents and search results. */
  documentBytes = 0;
  hasUnknown = false;
  readonly #toolNames = new Map<string, string>();
  readonly #written: () => WrittenBody;

  constructor(written: () => WrittenBody) {
    this.#written = written;
  }

  addSystem(system: Sent['system']): void {
    if (system === undefined || system.length === 0) return;
    this.#add({ role: 'system', content: textsOf(system) }, { pointer: '#/system', parts: [], calls: [] });
  }

  addMessage({ role, content }: Sent['messages'][number], pointer: string): void {
    if (typeof content === 'string') {
      this.#add({ role, content }, { pointer, parts: [], calls: [] });
      return;
    }
    const placed = content.map((block, index) => ({ block, pointer: `${pointer}/content/${index}` }));
    if (role === 'assistant') this.#addAssistant(placed, pointer);
    else this.#addUser(placed, pointer, role);
  }

  #addUser(placed: readonly PlacedBlock[], pointer: string, role: 'user' | 'system'): void {
    let parts: (TextPart | ImagePart)[] = [];
    let pointers: string[] = [];
    const flush = (): void => {
      if (parts.length === 0) return;
      this.#add({ role, content: parts }, { pointer, parts: pointers, calls: [] });
      [parts, pointers] = [[], []];
    };
    for (const { block, pointer: at } of placed) {
      if (block.type === 'tool_result' && role === 'user') {
        flush();
        this.#addResult(block, at);
        continue;
      }
      const isText = block.type === 'text';
      if (!isText && (role === 'system' || !['image', 'document', 'search_result'].includes(block.type))) {
        throw conflict(at, `is a block of type ${block.type}, which a message of this role cannot have`);
      }
      parts.push(this.#toPart(block, at));
      pointers.push(at);
    }
    flush();
  }

  #addResult(block: Block, pointer: string): void {
    const { tool_use_id: toolCallId = '', content = '', is_error: isError, cache_control: control } = block;
    const toolName = this.#toolNames.get(toolCallId);
    if (toolName === undefined) throw conflict(`${pointer}/tool_use_id`, 'must be the id of a tool_use before it');
    const parts = typeof content === 'string' ? [] : content.map((_, index) => `${pointer}/content/${index}`);
    const shown =
      typeof content === 'string'
        ? content
        : content.map((block, index) => this.#toPart(block, parts[index] ?? pointer));
    const message = { role: 'tool' as const, toolCallId, toolName, content: withHintAtEnd(shown, control) };
    this.#add(isError === true ? { ...message, isError } : message, { pointer, parts, calls: [] });
  }

  #addAssistant(placed: readonly PlacedBlock[], pointer: string): void {
    const content: AnswerPart[] = [];
    const parts: string[] = [];
    const calls: string[] = [];
    /** What belongs to calls, by their ids. */
    const metadataOfCalls = new Map<string, JsonObject>();
    for (const [index, { block, pointer: at }] of placed.entries()) {
      const part = this.#partOf(block, at, metadataOfCalls);
      if (part === undefined) continue;
      const last = content.at(-1);
      if (part.type === 'text' && last?.type === 'text' && goesOn(block, placed[index - 1]?.block)) {
        content[content.length - 1] = { ...last, ...part, text: last.text + part.text };
        continue;
      }
      content.push(part);
      parts.push(at);
      if (part.type === 'tool-call') calls.push(at);
    }
    this.#add({ role: 'assistant', content }, { pointer, parts, calls });
  }

  #partOf(block: Block, pointer: string, metadataOfCalls: Map<string, JsonObject>): AnswerPart | undefined {
    if (block.type.endsWith('thinking') && block.cache_control) {
      throw conflict(`${pointer}/cache_control`, 'cannot be in a block of thinking');
    }
    switch (block.type) {
      case 'text':
        return { type: 'text', text: block.text ?? '', ...hintOf(block) };
      case 'thinking':
        return this.#toThinking(block.thinking ?? '', metadataOfThinking(block.signature ?? ''), pointer);
      case 'redacted_thinking': {
        const { metadata, call } = metadataOfRedacted(block.data ?? '');
        if (call === undefined) return this.#toThinking('', metadata, pointer);
        metadataOfCalls.set(call, metadata);
        this.#noteReturned(metadata, pointer, true);
        return undefined;
      }
      case 'tool_use': {
        const { id = '', name = '' } = block;
        this.#toolNames.set(id, name);
        const metadata = metadataOfCalls.get(id);
        const call = { type: 'tool-call' as const, id, name, arguments: this.#argumentsAt(pointer), ...hintOf(block) };
        return metadata === undefined ? call : { ...call, provider_metadata: metadata };
      }
      default:
        throw conflict(pointer, `is a block of type ${block.type}, which an assistant cannot send`);
    }
  }

  #argumentsAt(pointer: string): string {
    const { text, places } = this.#written();
    const written = text.slice(...(places.inner.get(`${pointer}/input`) ?? missing(`${pointer}/input`)));
    // A slice alone would keep the text of the whole body in memory, also in the log.
    return Buffer.from(written).toString();
  }

  #toThinking(text: string, metadata: JsonObject | undefined, pointer: string): AnswerPart {
    this.#noteReturned(metadata, pointer, false);
    return metadata === undefined
      ? { type: 'thinking', text }
      : { type: 'thinking', text, provider_metadata: metadata };
  }

  #noteReturned(metadata: JsonObject | undefined, pointer: string, isOfCall: boolean): void {
    const provider = metadata?.['provider'];
    this.thinking.push({ pointer, provider: typeof provider === 'string' ? provider : undefined, isOfCall });
  }

  /** A text or an image; what only Anthropic takes as a text that stands for it, for the log. */
  #toPart(block: Block | ResultBlock, pointer: string): TextPart | ImagePart {
    const { type, source } = block;
    if (type === 'text') return { type, text: block.text ?? '', ...hintOf(block) };
    if (type === 'image' && isObject(source)) {
      const url = addressOf(source);
      this.images += 1;
      this.imageBytes += source.type === 'base64' ? (source.data?.length ?? 0) : 0;
      if (url !== undefined) return { type, url, ...hintOf(block) };
      throw conflict(`${pointer}/source`, 'must be an image in base64, or its url');
    }
    this.onlyAnthropic.push({ member: pointer, detail: `The provider has no blocks of type ${type}.` });
    const text = textOfDocument(block);
    this.documentBytes += Buffer.byteLength(text);
    this.hasUnknown ||= isObject(source) && (source.type === 'base64' || source.type === 'url');
    return { type: 'text', text };
  }

  #add(message: Message, place: MessagePlace): void {
    this.messages.push(message);
    this.places.push(place);
  }
}

/** Where the arguments of calls are. */
export const argumentsPath: JsonPath = ['messages', null, 'content', null, 'input'];

interface PlacedBlock {
  readonly block: Block;
  readonly pointer: string;
}

function textsOf(content: NonNullable<Sent['system']>): Content {
  return typeof content === 'string'
    ? content
    : content.map((block) => ({ type: 'text', text: block.text, ...hintOf(block) }));
}

/** The hint of a block for the provider's cache. */
function hintOf({ cache_control: control }: { readonly cache_control?: CacheHint | null }): {
  cache_control?: CacheHint;
} {
  return control ? { cache_control: control } : {};
}

/** Whether a text goes on with that of the block before: an answer with citations is one text, cut at what they are for. */
function goesOn(block: Block, before: Block | undefined): boolean {
  return (
    before?.type === 'text' && [block, before].some(({ citations }) => Array.isArray(citations) && citations.length > 0)
  );
}

/** The content with the hint of the block that it is in. */
function withHintAtEnd(content: Content, control: CacheHint | null | undefined): Content {
  if (!control) return content;
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const last = parts.at(-1);
  return last === undefined ? content : [...parts.slice(0, -1), { ...last, cache_control: control }];
}

function addressOf({ type, media_type: mediaType, data = '', url }: Source): string | undefined {
  if (type === 'url') return url;
  return type === 'base64' ? `data:${mediaType ?? ''};base64,${data}` : undefined;
}

function textOfDocument({ title, content, source }: Block | ResultBlock): string {
  const heading = `[${title ?? 'document'}]`;
  const inner = isObject(source) ? source.content : content;
  if (isObject(source) && source.type === 'text') return `${heading}\n${source.data ?? ''}`;
  if (typeof inner === 'string') return `${heading}\n${inner}`;
  const texts = (inner ?? []).flatMap((part) => ('text' in part && part.text !== undefined ? [part.text] : []));
  return [heading, ...texts].join('\n');
}

function parametersOf(body: Body): Parameters | undefined {
  const { max_tokens, temperature, top_p, top_k, stop_sequences: stop } = body;
  const { effort } = body.output_config;
  const parameters = defined({
    max_output_tokens: max_tokens,
    temperature,
    top_p,
    top_k,
    stop: stop?.length === 0 ? undefined : stop,
    reasoning_effort: effort === 'max' ? undefined : effort,
    parallel_tool_calls: body.tool_choice?.disable_parallel_tool_use === true ? false : undefined,
  });
  return Object.keys(parameters).length > 0 ? parameters : undefined;
}

function formatOf({ output_config: config, output_format: format }: Body): ResponseFormat | undefined {
  const { schema } = config.format ?? format ?? {};
  return schema === undefined ? undefined : { type: 'json', schema: schema as JsonObject };
}

function toTool(tool: SentTool): Tool {
  const { name, description, input_schema: schema, strict } = tool;
  const parameters = (schema ?? { type: 'object', properties: {} }) as JsonObject;
  return defined({ name, description, parameters, strict, ...hintOf(tool) });
}

function choiceOf(choice: Body['tool_choice']): ToolChoice | undefined {
  switch (choice?.type) {
    case 'any':
      return 'required';
    case 'tool':
      return { name: choice.name ?? '' };
    default:
      return choice?.type;
  }
}

/** Thinking has another form with each provider. What is switched off needs none. */
function extraOf({ thinking, cache_control: control }: Body): JsonObject {
  const hint: JsonObject = control === undefined ? {} : { cache_control: { ...control } };
  if (thinking === undefined || thinking.type === 'disabled') return hint;
  const { type, budget_tokens: budget } = thinking;
  return { ...hint, thinking: { type, ...(budget !== undefined && { budget_tokens: budget }) } };
}

/** Members that change the answer, and that only Anthropic's own API has. */
function anthropicOnlyIn(body: Body): Unsupported[] {
  const { context_management: context, output_config: config, thinking, tools = [] } = body;
  const detail = 'Only a model of Anthropic that is called directly has it.';
  const members = [
    ...(context === undefined ? [] : ['#/context_management']),
    ...(config.effort === 'max' ? ['#/output_config/effort'] : []),
    ...(thinking?.display ? ['#/thinking/display'] : []),
    ...tools.flatMap(({ type, input_examples: examples }, index) => [
      ...((type ?? 'custom') === 'custom' ? [] : [`#/tools/${index}/type`]),
      ...(examples === undefined ? [] : [`#/tools/${index}/input_examples`]),
    ]),
  ];
  return members.map((member) => ({ member, detail }));
}

function placesOf({ output_config: config }: Body, places: readonly MessagePlace[]): Places {
  return [
    [/^#\/parameters\/max_output_tokens/, '#/max_tokens'],
    [/^#\/parameters\/stop/, '#/stop_sequences'],
    [/^#\/parameters\/reasoning_effort/, '#/output_config/effort'],
    [/^#\/parameters\/parallel_tool_calls/, '#/tool_choice/disable_parallel_tool_use'],
    [/^#\/parameters\//, '#/'],
    [/^#\/response_format/, config.format === undefined ? '#/output_format' : '#/output_config/format'],
    [/^#\/tools\/(\d+)\/parameters/, '#/tools/$1/input_schema'],
    [
      /^#\/messages\/(\d+)(?:\/(content|tool_calls)\/(\d+))?(?:\/(?:url|arguments))?/,
      (_, message, kind, index) => {
        const { pointer, parts, calls } = places[Number(message)] ?? { pointer: '#/messages', parts: [], calls: [] };
        return (kind === undefined ? undefined : (kind === 'content' ? parts : calls)[Number(index)]) ?? pointer;
      },
    ],
  ];
}

function sizeOf(
  { tools = [], output_config: config, output_format: format }: Body,
  { messages, images, imageBytes, documentBytes, hasUnknown }: ConversationReader,
): ReturnType<ReadMessage['size']> {
  const schemas = [...(tools.length > 0 ? [tools] : []), config.format, format].filter((value) => value !== undefined);
  return {
    rewrittenBytes: documentBytes + schemas.reduce((sum, value) => sum + Buffer.byteLength(JSON.stringify(value)), 0),
    messages: messages.length,
    images,
    imageBytes,
    ownTools: tools.filter(({ type }) => (type ?? 'custom') !== 'custom').length,
    hasUnknown,
  };
}

/** The header fields of a request that belong to its body. */
export interface OwnHeaders {
  readonly 'anthropic-version'?: string;
  readonly 'anthropic-beta'?: string;
}

/**
 * The request as it goes to Anthropic itself.
 *
 * @throws {ProblemError} malformed-body if a name is there twice: readers differ in which of both counts;
 *   conflicting-members for `prompt`
 */
export function toOriginal(
  { text, places: { members, repeated } }: WrittenBody,
  { 'anthropic-version': version = defaultVersion, 'anthropic-beta': betas }: OwnHeaders,
  { size: measure }: ReadMessage,
): OriginalRequest {
  if (repeated !== undefined) {
    const name = JSON.stringify(repeated.slice(0, longestName));
    throw new ProblemError('malformed-body', { detail: `An object of the body has the member ${name} twice.` });
  }
  if (members.has('prompt')) throw conflict('#/prompt', 'needs a stored prompt');
  const maxTokens = members.get('max_tokens');
  const { imageBytes, ...size } = measure();
  return {
    text,
    model: members.get('model') ?? missing('#/model'),
    ...(maxTokens !== undefined && { maxTokens }),
    headers: defined({ 'anthropic-version': version, 'anthropic-beta': betas }),
    size: { ...size, bytes: Buffer.byteLength(text) - imageBytes },
  };
}

/** What the validators have found is in the text. */
function missing(pointer: string): never {
  throw new Error(`The text of the body has no ${pointer}.`);
}

/** The most characters of a name in a message. */
const longestName = 100;
/** The version of the API for callers that do not send one. */
const defaultVersion = '2023-06-01';

/**
 * What a provider cannot take of a request: what only Anthropic's API has, and thinking of another provider.
 *
 * @param provider id of the one that is called
 * @param isOriginal whether it gets the request as it came
 */
export function unsupportedBy(
  { onlyAnthropic, thinking }: ReadMessage,
  provider: string,
  isOriginal: boolean,
): readonly Unsupported[] {
  const others = thinking.filter((thought) =>
    isOriginal
      ? thought.isOfCall || thought.provider !== provider
      : !thought.isOfCall && isOfAnother(thought, provider),
  );
  return [
    ...(isOriginal ? [] : onlyAnthropic),
    ...others.map(({ pointer, provider: author }) => ({
      member: pointer,
      detail:
        author === undefined
          ? 'The thinking has no signature, which the provider needs.'
          : `The thinking is that of ${author}, and only this provider takes it back.`,
    })),
  ];
}

function isOfAnother({ provider: author }: ReturnedBlock, provider: string): boolean {
  return author !== undefined && author !== provider;
}
