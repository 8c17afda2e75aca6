/**
 * The request to a language model and its result. Invocations, test runs, the answer cache, streams and the
 * OpenAI-compatible endpoints pass both on as a whole, so a field that is added here reaches all of them.
 */
import type { Principal } from '../base/limits/principal.ts';
import type { components } from '../../generated/types.ts';
import type { CallCost } from '../base/runtime/money.ts';
import { isObject } from '../base/runtime/objects.ts';
import type { ProblemError } from '../base/errors/problem-error.ts';
import type { EmbeddingRequest, Vector } from './vectors.ts';
import type { Place } from '../base/runtime/json-places.ts';
import type { AnswerObject } from '../base/json-schema/answer-checker.ts';

type Schemas = components['schemas'];

/** A plain JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** A hint to the provider to keep everything up to its place in the provider's own cache, and for how long. */
export interface CacheHint {
  readonly type: 'ephemeral';
  /** As the provider decides if left out. */
  readonly ttl?: '5m' | '1h';
}

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly cache_control?: CacheHint;
}

/** An image by its address: `https:` of a public host, or `data:`. */
export interface ImagePart {
  readonly type: 'image';
  readonly url: string;
  readonly cache_control?: CacheHint;
}

/** What the model thought before it went on. Only the provider that wrote it gets it back, unchanged. */
export interface ThinkingPart {
  readonly type: 'thinking';
  /** Empty if the provider shows none of it. */
  readonly text: string;
  /** What the provider needs to get back with it, for example a signature. Absent if it does not need it back. */
  readonly provider_metadata?: JsonObject;
}

/** The content of a message: text, or texts and images in their order. */
export type Content = string | readonly (TextPart | ImagePart)[];

/** What a model says, in its order. Neighbouring texts are one. */
export type AnswerPart = TextPart | ThinkingPart | ToolCallPart;

/** A call of a tool that a model asked for. It has the same members in requests and in results. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The model's text, usually JSON. It is not parsed. */
  readonly arguments: string;
  /** What the provider needs to get back with the call, for example a thought signature. */
  readonly provider_metadata?: JsonObject;
}

export interface ToolCallPart extends ToolCall {
  readonly type: 'tool-call';
  /** Only of a request. */
  readonly cache_control?: CacheHint;
}

/** A message without placeholders. */
export type Message =
  | { readonly role: 'system' | 'developer' | 'user'; readonly content: Content }
  | { readonly role: 'assistant'; readonly content: string | readonly (AnswerPart | ImagePart)[] }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly content: Content;
      /** Whether the tool failed, and the content says why. */
      readonly isError?: true;
    };

/** How the model generates. The members have the names of the contract. */
export interface Parameters {
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly max_output_tokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly presence_penalty?: number;
  readonly frequency_penalty?: number;
  readonly reasoning_effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
  readonly parallel_tool_calls?: boolean;
}

/** The form of the answer's text. */
export type ResponseFormat =
  | { readonly type: 'text' }
  | {
      readonly type: 'json';
      /** JSON Schema of the answer; any JSON without it. */
      readonly schema?: JsonObject;
      readonly name?: string;
      readonly description?: string;
      /** Whether the provider has to hold the schema exactly. */
      readonly strict?: boolean;
    };

/** A function that the model can ask its caller to run. */
export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  readonly strict?: boolean;
  readonly cache_control?: CacheHint;
}

/** Whether the model calls tools; an object names the tool that it has to call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/**
 * Everything that decides the answer, because it is also the key of the answer cache; and hints for the cache of the
 * provider, which the key leaves out (`cache-hints.ts`). Plain JSON values.
 */
export interface GenerateRequest {
  /** Matches `providerNamePattern`; it does not have to be in the provider's list. */
  readonly model: string;
  /** At least one message; system messages can be anywhere. For vectors, the texts are parts of one; none for tokens. */
  readonly messages: readonly Message[];
  readonly parameters?: Parameters;
  readonly responseFormat?: ResponseFormat;
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  /** Options of the provider that is called, as far as `provider-options.ts` allows them. */
  readonly providerOptions?: JsonObject;
  /** Vectors are wanted in place of an answer. */
  readonly embedding?: EmbeddingRequest;
  /** Only for a provider that has its API. */
  readonly original?: OriginalRequest;
}

/** An API of a provider whose requests can go out as a caller wrote them. */
export type OriginalApi = 'anthropic-messages';

/**
 * A request in the API of its provider, as the caller wrote it. It is sent in place of what the other members say, which
 * are for the log, and for what a provider may quote.
 */
export interface OriginalRequest {
  /** JSON: no object in it has a name twice. */
  readonly text: string;
  /** Where the text has the model, and the limit of output tokens if it has one. */
  readonly model: Place;
  readonly maxTokens?: Place;
  /** Header fields that belong to the body. */
  readonly headers: Readonly<Record<string, string>>;
  /** For the most tokens that the provider can charge for. */
  readonly size: OriginalSize;
}

/** What is in a request, as far as tokens depend on it. */
export interface OriginalSize {
  /** Of the text without the data of images. */
  readonly bytes: number;
  /** Of what the provider writes for the model in a longer notation: tools, schemas, documents. */
  readonly rewrittenBytes: number;
  readonly messages: number;
  readonly images: number;
  /** Tools that the provider describes itself. */
  readonly ownTools: number;
  /** Whether it has something whose tokens nobody knows before, such as the pages of a PDF. */
  readonly hasUnknown: boolean;
}

/** Options of one call. They do not affect the answer. */
export interface CallOptions {
  /** Aborted when no caller waits for the answer any more; then the call to the provider is canceled. */
  readonly signal: AbortSignal;
  /**
   * The deadline of the answer, including retries, on the clock of `performance.now`. It is read again each time, so
   * that a getter can extend it while the call runs. For a stream it is the deadline of the first content.
   */
  readonly deadline: number;
  /** Families take turns if more calls wait for a provider than can be in progress at the same time. */
  readonly principal: Pick<Principal, 'id' | 'family'> & { readonly kind?: Principal['kind'] };
  /** The request that the call is for, for the log. */
  readonly requestId?: string | undefined;
  /** W3C trace context to send with the call. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** Whether it runs after the calls that a caller waits for. False if left out. */
  readonly background?: boolean;
  /** Calls to the provider at most, including the first; 3 if left out. */
  readonly maxAttempts?: number;
  /** How often a call is repeated that may have been billed, within `maxAttempts`; 0 if left out. */
  readonly retries?: number;
  /** Keeps a record of each call to the provider. */
  readonly attemptLog?: AttemptLog | undefined;
  /**
   * Whether the answer can be used; any can if left out. A mistake is a sentence about it. The call has failed then, like
   * one that had no answer. The signal ends the check; the answer is unverified then.
   */
  readonly check?: (result: GenerateResult, signal: AbortSignal) => Promise<CheckedResult>;
  /** Called when a call to the provider has ended, with what it cost; undefined if that is unknown. */
  readonly onEnd?: (end: AttemptEnd, cost: CallCost | undefined) => void;
  /** Called for each failed call to the provider, also for one that is repeated. */
  readonly onFailedAttempt?: (attempt: FailedAttempt) => void;
}

/** An answer with what its check has found, or why it cannot be used. */
export type CheckedResult = { readonly result: GenerateResult } | { readonly mistake: string };

/** What the price of a call depends on. */
export type PricedRequest = Pick<GenerateRequest, 'model' | 'providerOptions'>;

/** The most tokens that a provider can charge for a call. */
export interface TokenCeiling {
  readonly inputTokens: number;
  /** The limit that the provider gets; undefined if it gets none. */
  readonly outputTokens: number | undefined;
  /** Whether the provider is known to keep that limit. */
  readonly isKept: boolean;
  /** How many it probably charges for. */
  readonly likelyInputTokens: number;
  /** The request has something whose tokens nobody knows before. */
  readonly hasUnknown?: boolean;
}

/** The calls to providers of one invocation, each written down before it is made. */
export interface AttemptLog {
  /** Of the invocation. */
  readonly id: string;
  /** The same for invocations whose calls the same budgets pay; empty without budgets. */
  readonly payers: string;
  /**
   * Resolves when the call is written down, and what it may cost is reserved. It is not made if this fails.
   * @throws {ProblemError} database-unavailable, storage-full; budget-exceeded, cost-unknown
   * @throws The reason of the signal when that is aborted first.
   */
  begin(provider: string, request: PricedRequest, ceiling: TokenCeiling, signal: AbortSignal): Promise<OpenAttempt>;
  /**
   * The same for a call to this process: it is not written down before it is made.
   * @returns undefined if it costs something, because the operator has set a price
   */
  beginFree(provider: string, request: PricedRequest, ceiling: TokenCeiling): OpenAttempt | undefined;
  /** Another invocation makes and pays the call. @param id of that invocation */
  join(id: string): void;
  /** Keeps the record open for a call that can outlive the invocation, until the returned function is called. */
  hold(): () => void;
}

/** A call to a provider in the log. Exactly one of both is called, once. */
export interface OpenAttempt {
  /** @returns what the call cost; undefined if that is unknown */
  end(end: AttemptEnd): CallCost | undefined;
  /** Nothing was sent after all. */
  withdraw(): void;
}

/** How a call to a provider ended. */
export interface AttemptEnd {
  /** `succeeded`, `canceled`, or the type of the problem. */
  readonly outcome: string;
  /** Why it failed, in a sentence. */
  readonly detail?: string | undefined;
  /** The provider's answer about it: its status, its code and its words, as callers get them. */
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  /** Of a call that failed: as far as the provider has said. */
  readonly usage?: Usage | undefined;
  /** Whether the provider cannot charge for the call. */
  readonly isUnbilled?: boolean;
  /** A whole answer that cannot be used. Its provider has done its part, and `usage` is all that it charges for. */
  readonly refused?: GenerateResult | undefined;
  /** Bytes of text, reasoning and arguments that have come. */
  readonly receivedBytes?: number | undefined;
  /** What the provider calls itself in its answer. */
  readonly answer?: { readonly id?: string | undefined; readonly modelId?: string | undefined } | undefined;
}

/** A call to a provider that gave no answer. */
export type FailedAttempt = Readonly<Omit<Schemas['FailedAttempt'], 'problem'>> & {
  readonly problem: ProblemError['type'];
};

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** Tokens as the provider counts them. What it does not mention is absent. */
export type Usage = Readonly<Schemas['Usage']>;

/** A model's answer. Plain JSON values. */
export interface GenerateResult {
  /** As an assistant's message has it. Empty when the model said nothing. */
  readonly content: readonly AnswerPart[];
  readonly finishReason: FinishReason;
  /** Why the model does not answer, in its own words, if the provider gives them apart from the content. */
  readonly refusal?: string;
  readonly usage: Usage;
  /** The value of an answer in JSON. Providers leave it out; it is added when the answer was checked. */
  readonly object?: AnswerObject;
  /** The answer as the provider wrote it, to a request that went out as its caller wrote it. */
  readonly original?: string;
  /** The answer could not be checked in time. It has an object if it is JSON that may not match its schema. */
  readonly isUnverified?: true;
  /** Those that the request wants, in the order of its inputs. */
  readonly vectors?: readonly Vector[];
}

/** A piece of an answer that is streamed. Exactly one `finish` ends it; a failure is thrown. */
export type GenerateEvent =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'refusal'; readonly delta: string }
  | { readonly type: 'thinking'; readonly delta: string }
  /** The pieces of thinking before it are one part. */
  | ({ readonly type: 'thinking-end' } & Pick<ThinkingPart, 'provider_metadata'>)
  /** A whole call. */
  | ToolCallPart
  /** Only if the request is an original: an event of the provider. The pieces of the answer in it are events, too. */
  | OriginalPiece
  /** The whole result, with the text of all deltas. */
  | { readonly type: 'finish'; readonly result: GenerateResult };

/** An event of a stream, as the provider sent it. */
export interface OriginalPiece {
  readonly type: 'original';
  readonly name: string;
  /** JSON. */
  readonly data: string;
  /**
   * Only if the event does nothing but add a text: the block that it is added to, by its index, the kind of the addition,
   * and the member that has it.
   */
  readonly added?: { readonly index: number; readonly kind: string; readonly member: string; readonly text: string };
}

/** How an answer is wanted. */
export interface AnswerForm {
  /** Whether its pieces come one by one. */
  readonly isStreamed: boolean;
  /**
   * Whether thinking is given while it comes, so that a stream begins with it. Otherwise, and if left out, it is given
   * together with what follows it.
   */
  readonly showsThinking?: boolean | undefined;
  /**
   * Whether the arguments of calls of tools have to be JSON objects, so that the attempt fails otherwise. An answer that
   * goes back as its provider wrote it is not checked.
   */
  readonly needsArgumentObjects?: boolean | undefined;
}

/** Reads an answer to its end. @returns the last event, which has the whole answer */
export async function finishOf<Event extends { readonly type: string }>(
  events: AsyncIterable<Event>,
): Promise<Extract<Event, { readonly type: 'finish' }>> {
  for await (const event of events) if (isFinish(event)) return event;
  throw new Error('An answer has no end.');
}

function isFinish<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { readonly type: 'finish' }> {
  return event.type === 'finish';
}

/** A whole answer as the events of a stream. */
export function* eventsOf(result: GenerateResult): Generator<GenerateEvent> {
  for (const part of result.content) {
    if (part.type === 'text') yield { type: 'text', delta: part.text };
    else if (part.type === 'thinking') yield* thinkingEvents(part);
    else yield part;
  }
  if (result.refusal !== undefined) yield { type: 'refusal', delta: result.refusal };
  yield { type: 'finish', result };
}

/** A whole part of thinking as the events of a stream. */
export function* thinkingEvents({ text, provider_metadata }: ThinkingPart): Generator<GenerateEvent> {
  if (text !== '') yield { type: 'thinking', delta: text };
  yield { type: 'thinking-end', ...(provider_metadata && { provider_metadata }) };
}

/** The text of an answer, without all else. */
export function textOf({ content }: Pick<GenerateResult, 'content'>): string {
  const [first] = content;
  // Most answers are one text.
  if (content.length === 1 && first?.type === 'text') return first.text;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

/** What is between the texts of a message where they become one. */
export const betweenTexts = '\n\n';

/** The texts of a message as one, without all else: each part is a paragraph of its own. */
export function textOfMessage({ content }: Pick<Message, 'content'>): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : [])).join(betweenTexts);
}

/** Whether an answer ended before the model was done. */
export function isCut({ finishReason, refusal }: Pick<GenerateResult, 'finishReason' | 'refusal'>): boolean {
  return finishReason === 'length' || (finishReason === 'content-filter' && refusal === undefined);
}

/** The arguments of a call. Some models write nothing if a tool takes nothing; programs and servers parse it. */
export function withoutBlank(text: string): string {
  return text.trim() === '' ? '{}' : text;
}

/** Whether the arguments of a call are a JSON object. Some models write nothing if a tool takes nothing. */
export function hasArgumentObject({ arguments: text }: ToolCall): boolean {
  if (text.trim() === '') return true;
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** The calls of tools in a message or an answer, in their order. */
export function callsOf({ content }: Pick<Message | GenerateResult, 'content'>): ToolCallPart[] {
  return typeof content === 'string' ? [] : content.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
}
