import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Turns } from '../base/runtime/turns.ts';
import { echoVectors } from './echo-vectors.ts';
import { toAttempt, toProblem, type Failure } from './call/failures.ts';
import { checkAnswer, failedEnd, type AttemptDependencies } from './call/retries.ts';
import {
  callsOf,
  textOf,
  textOfMessage,
  withoutBlank,
  type AnswerForm,
  type AttemptEnd,
  type CallOptions,
  type GenerateEvent,
  type GenerateRequest,
  type GenerateResult,
  type Json,
  type JsonObject,
  type Message,
  type Parameters,
  type TokenCeiling,
  type ToolCallPart,
} from './language-model.ts';

type EchoCall = Pick<CallOptions, 'signal' | 'onFailedAttempt' | 'attemptLog' | 'check' | 'onEnd'>;

interface EchoDependencies extends Pick<AttemptDependencies, 'onAttempt'> {
  /** For the work on vectors. */
  readonly turns: Turns;
}

/** How `echo` is listed. */
export const echoEntry = {
  id: 'echo',
  name: 'Echo',
  defaultModel: 'echo-1',
  models: ['echo-1', 'echo-upper', 'echo-reverse'],
  embeddings: { models: ['echo-embed'] },
};

/**
 * The provider that needs no network. It answers with the last user message (without one, the last message), or with
 * the tool result that comes last. `echo-1` returns it unchanged, `echo-upper` in upper case, `echo-reverse` with its
 * words in reverse order; `echo-fail`, which is not in the list, fails like a provider that is overloaded.
 *
 * - Tools: a user message with lines `call <tool> <JSON>` calls these tools. If a call is required and there is no such
 *   line, the named or the first tool is called with sample arguments.
 * - Format `json`: text that is JSON stays as it is, as does a text of more than 64 KiB that begins like JSON. Other text becomes a sample that fits simple schemas and contains
 *   the text in its strings; without a schema `{"text": …}`.
 * - `stop` and `max_output_tokens` (words) cut the text. Other parameters change nothing.
 * - Usage counts the words (runs of characters other than white space) of all messages and of the answer. An image
 *   counts one; the arguments of a call are counted as text.
 * - Vectors are those of `echo-embed`: see `echoVectors`.
 *
 * @throws ProblemError `provider-failed` for any other model, as a real provider does for an unknown model
 */
export async function* echo(
  request: GenerateRequest,
  call: EchoCall,
  { isStreamed }: AnswerForm,
  { turns, onAttempt }: EchoDependencies,
): AsyncGenerator<GenerateEvent, void, void> {
  const { signal, onFailedAttempt, attemptLog, onEnd } = call;
  signal.throwIfAborted();
  const { model } = request;
  // What it uses is known before.
  const result = await resultOf(request, turns);
  const ceiling = ceilingOf(result);
  const attempt =
    attemptLog?.beginFree('echo', request, ceiling) ?? (await attemptLog?.begin('echo', request, ceiling, signal));
  const checked = result === undefined ? { failure: failureOf(model) } : await checkAnswer(call, result);
  const end: AttemptEnd =
    'failure' in checked ? failedEnd(checked.failure, signal) : { outcome: 'succeeded', usage: checked.result.usage };
  onAttempt?.('echo', end.outcome);
  onEnd?.(end, attempt?.end(end));
  if (isStreamed && result !== undefined) yield* inPieces(result, signal);
  if ('failure' in checked) {
    onFailedAttempt?.(toAttempt(checked.failure, 'echo', model));
    throw toProblem(checked.failure, 'echo', model);
  }
  if (isStreamed) yield* callsOf(checked.result);
  yield { type: 'finish', result: checked.result };
}

/** What `echo` counts for a request. */
export async function echoCeiling(request: GenerateRequest, turns: Turns): Promise<TokenCeiling> {
  return ceilingOf(await resultOf(request, turns));
}

/** Of a model that does not answer. */
function failureOf(model: string): Failure {
  const failed = { type: 'provider-failed', retryable: false, mayBeBilled: false } as const;
  if (model !== 'echo-fail') return { ...failed, detail: 'The provider has no such model.' };
  return { ...failed, detail: 'The provider answered with an error (status 503).', status: 503, retryable: true };
}

/** Undefined for a model that does not answer. */
async function resultOf(request: GenerateRequest, turns: Turns): Promise<GenerateResult | undefined> {
  const { model, embedding } = request;
  if (embedding !== undefined) return model === 'echo-embed' ? await echoVectors(embedding, turns) : undefined;
  const transform = transforms.get(model);
  return transform && answer(request, transform);
}

function ceilingOf(result: GenerateResult | undefined): TokenCeiling {
  const { inputTokens = 0, outputTokens = 0 } = result?.usage ?? {};
  return { inputTokens, outputTokens, isKept: true, likelyInputTokens: inputTokens };
}

function answer(request: GenerateRequest, transform: (text: string) => string): GenerateResult {
  const { messages, parameters = {} } = request;
  const inputTokens = messages.reduce((sum, message) => sum + countTokens(message), 0);
  const toolCalls = findCalls(request);
  if (toolCalls.length > 0) {
    const outputTokens = toolCalls.reduce((sum, call) => sum + countWords(call.arguments), 0);
    return { content: toolCalls, finishReason: 'tool-calls', usage: { inputTokens, outputTokens } };
  }
  const text = inFormat(request, subject(messages), transform);
  const { text: limited, isCut } = limit(text, parameters);
  return {
    content: limited === '' ? [] : [{ type: 'text', text: limited }],
    finishReason: isCut ? 'length' : 'stop',
    usage: { inputTokens, outputTokens: countWords(limited) },
  };
}

/** The text of `echo` in pieces of one word, or of several if there would be more than about a thousand. */
async function* inPieces(result: GenerateResult, signal: AbortSignal): AsyncGenerator<GenerateEvent, void, void> {
  const text = textOf(result);
  for (const delta of pieces(text)) {
    // All pieces are there at once, where a provider's arrive one by one. Other requests run in between.
    if (text.length > longestParsed) await nextTurn();
    signal.throwIfAborted();
    yield { type: 'text', delta };
  }
}

function* pieces(text: string): Generator<string> {
  const word = /\s*\S+\s*?|\s+$/g;
  for (let start = 0; start < text.length; start = word.lastIndex) {
    // The search goes on behind what the piece has at least; it never matches nothing.
    word.lastIndex = start + Math.floor(text.length / 1_000);
    if (!word.test(text)) word.lastIndex = text.length;
    yield text.slice(start, word.lastIndex);
  }
}

const transforms: ReadonlyMap<string, (text: string) => string> = new Map([
  ['echo-1', (text) => text],
  ['echo-upper', (text) => text.toUpperCase()],
  ['echo-reverse', (text) => words(text).reverse().join(' ')],
]);

function subject(messages: readonly Message[]): string {
  const last = messages.at(-1);
  if (last?.role === 'tool') return textOfMessage(last);
  const message = messages.findLast(({ role }) => role === 'user') ?? last;
  return message === undefined ? '' : textOfMessage(message);
}

function findCalls({ messages, tools = [], toolChoice = 'auto', parameters }: GenerateRequest): ToolCallPart[] {
  const last = messages.at(-1);
  if (tools.length === 0 || toolChoice === 'none' || last === undefined || last.role === 'tool') return [];
  const offered = typeof toolChoice === 'object' ? tools.filter(({ name }) => name === toolChoice.name) : tools;
  const asked = [...textOfMessage(last).matchAll(/^call (\S+)(?: (.*))?$/gm)].flatMap(([, name = '', given = '{}']) =>
    offered.some((tool) => tool.name === name) ? [{ name, arguments: withoutBlank(given) }] : [],
  );
  const [first] = offered;
  if (asked.length === 0 && toolChoice !== 'auto' && first) {
    asked.push({ name: first.name, arguments: JSON.stringify(sample(first.parameters, subject(messages))) });
  }
  const before = messages.reduce((sum, message) => sum + callsOf(message).length, 0);
  const calls = asked.map((call, index) => ({
    type: 'tool-call' as const,
    id: `call_${before + index + 1}`,
    ...call,
  }));
  return parameters?.parallel_tool_calls === false ? calls.slice(0, 1) : calls;
}

function inFormat({ responseFormat }: GenerateRequest, text: string, transform: (text: string) => string): string {
  if (responseFormat?.type !== 'json') return transform(text);
  if (isJson(text)) return text;
  const { schema } = responseFormat;
  return JSON.stringify(schema ? sample(schema, transform(text)) : { text: transform(text) });
}

/** The longest text that is parsed here; more would hold up other requests. */
const longestParsed = 64 * 1024;

function isJson(text: string): boolean {
  if (text.length > longestParsed) return /^\s*[[{"]/.test(text);
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The longest text in a sample, because a schema can have thousands of strings. */
const longestSampleText = 200;

/** A value that fits a simple schema: types, properties, items, enumerations, and bounds of texts and numbers. */
function sample(schema: Json | undefined, given: string): Json {
  const text = given.slice(0, longestSampleText);
  if (!isObject(schema)) return text;
  if ('const' in schema) return schema['const'] ?? null;
  const { enum: values, type, properties, items, anyOf, oneOf, maxLength, minimum } = schema;
  if (isList(values)) return values[0] ?? null;
  const choice = anyOf ?? oneOf;
  if (isList(choice)) return sample(choice[0], text);
  switch (isList(type) ? type[0] : (type ?? (properties === undefined ? 'string' : 'object'))) {
    case 'object':
      return Object.fromEntries(
        Object.entries(isObject(properties) ? properties : {}).map(([name, value]) => [name, sample(value, text)]),
      );
    case 'array':
      return [sample(items, text)];
    case 'number':
    case 'integer':
      return typeof minimum === 'number' ? Math.ceil(minimum) : 0;
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return typeof maxLength === 'number' ? text.slice(0, maxLength) : text;
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function limit(text: string, { stop = [], max_output_tokens: most }: Parameters): { text: string; isCut: boolean } {
  const ends = stop.map((word) => text.indexOf(word)).filter((end) => end >= 0);
  const stopped = text.slice(0, Math.min(text.length, ...ends));
  if (most === undefined || countWords(stopped) <= most) return { text: stopped, isCut: false };
  const word = /\S+/g;
  for (let count = 0; count < most; count += 1) word.test(stopped);
  return { text: stopped.slice(0, word.lastIndex), isCut: true };
}

function countTokens(message: Message): number {
  const images =
    typeof message.content === 'string' ? 0 : message.content.filter(({ type }) => type === 'image').length;
  return callsOf(message).reduce(
    (sum, call) => sum + countWords(call.arguments),
    countWords(textOfMessage(message)) + images,
  );
}

/** Counts without storing the words, and without an expression for each: a prompt can have millions. */
function countWords(text: string): number {
  let count = 0;
  let isInWord = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const isSpace = code <= 0x20 ? code === 0x20 || (code >= 0x09 && code <= 0x0d) : code >= 0xa0 && isRareSpace(code);
    if (!isSpace && !isInWord) count += 1;
    isInWord = !isSpace;
  }
  return count;
}

/** The rest of what `\s` matches. */
function isRareSpace(code: number): boolean {
  if (code < 0x1680) return code === 0xa0;
  return (code >= 0x2000 && code <= 0x200a) || rareSpaces.has(code);
}

const rareSpaces: ReadonlySet<number> = new Set([0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff]);

function words(text: string): string[] {
  return text.match(/\S+/g) ?? [];
}
