/**
 * Anthropic's Messages API with the bodies of its own callers. They go out as they came, and the answers go back so: the
 * package for Anthropic leaves out members, throws at blocks and ignores hints for caches that it does not know. Queue,
 * journal, retries and names of failures are those of every call, because this is a model like those of the packages.
 */
import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4GenerateResult,
  type LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { isObject, membersOf } from '../../base/runtime/objects.ts';
import type { Place } from '../../base/runtime/json-places.ts';
import type { GenerateRequest, OriginalRequest } from '../language-model.ts';
import { TextInPieces, type Fetch } from '../transport/http.ts';
import type { Originals } from '../vendors/vendor.ts';
import { contentOf, finishOf, noUsage, wrongAnswer } from './anthropic-answer.ts';
import { AnthropicEvents } from './anthropic-events.ts';
import { originalMetadata } from './original-answers.ts';

export interface AnthropicAccess {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly fetch: Fetch;
}

/** @param access to the API of Anthropic, or to a server that is like it */
export function anthropicOriginals(access: AnthropicAccess): Originals {
  return {
    api: 'anthropic-messages',
    modelFor: (request, original) => modelOf(access, request, original),
    async countTokens(request, original, { signal, traceFields }) {
      const body = bodyOf(request, original);
      const { text } = await send(access, '/messages/count_tokens', original, body, signal, readWhole, traceFields);
      const { input_tokens: count } = membersOf(parse(text));
      if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0) throw wrongAnswer();
      return count;
    },
  };
}

function modelOf(access: AnthropicAccess, request: GenerateRequest, original: OriginalRequest): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'anthropic',
    modelId: request.model,
    supportedUrls: {},
    async doGenerate({ abortSignal, headers }) {
      const body = bodyOf(request, original);
      const answer = await send(access, '/messages', original, body, abortSignal, readWhole, headers);
      return toResult(answer);
    },
    async doStream({ abortSignal, headers }) {
      const body = bodyOf(request, original);
      const stream = await send(access, '/messages', original, body, abortSignal, readEvents, headers);
      return { stream };
    },
  };
}

/** The body of the caller, with the model and the limit of output tokens that hold. */
function bodyOf(
  { model, parameters }: GenerateRequest,
  { text, model: named, maxTokens }: OriginalRequest,
): TextInPieces {
  const limit = parameters?.max_output_tokens;
  const replaced: { readonly place: Place; readonly by: string }[] = [{ place: named, by: JSON.stringify(model) }];
  const isSame = maxTokens === undefined || Number(text.slice(...maxTokens)) === limit;
  if (!isSame && limit !== undefined) replaced.push({ place: maxTokens, by: String(limit) });
  replaced.sort((one, other) => one.place[0] - other.place[0]);
  const pieces: string[] = [];
  let from = 0;
  for (const { place, by } of replaced) {
    pieces.push(text.slice(from, place[0]), by);
    [, from] = place;
  }
  return new TextInPieces([...pieces, text.slice(from)]);
}

/** @param read what an answer without an error is read by */
async function send<Read>(
  { apiKey, baseURL, fetch }: AnthropicAccess,
  path: string,
  { headers: own }: OriginalRequest,
  body: TextInPieces,
  signal: AbortSignal | undefined,
  read: (response: Response) => Read | Promise<Read>,
  traceFields: Readonly<Record<string, string | undefined>> = {},
): Promise<Read> {
  const url = `${baseURL}${path}`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...own, ...definedIn(traceFields), 'x-api-key': apiKey },
    // The transport takes it, and the type of `fetch` does not know it.
    body: body as never,
    ...(signal && { signal }),
  });
  if (response.ok) return read(response);
  throw failedCall(url, response, await response.text());
}

function definedIn(fields: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function failedCall(url: string, { status, headers }: Response, text: string): APICallError {
  return new APICallError({
    message: 'The provider refused the call.',
    url,
    requestBodyValues: undefined,
    statusCode: status,
    responseHeaders: Object.fromEntries(headers as unknown as Iterable<[string, string]>),
    responseBody: text,
  });
}

async function readWhole(response: Response): Promise<{ readonly text: string; readonly response: Response }> {
  return { text: await response.text(), response };
}

function toResult({ text }: { readonly text: string }): LanguageModelV4GenerateResult {
  const message = parse(text);
  if (!isObject(message) || message['type'] !== 'message' || !Array.isArray(message['content'])) throw wrongAnswer();
  const { id, model, role, content, stop_reason: reason, usage } = message;
  if (typeof id !== 'string' || typeof model !== 'string' || role !== 'assistant' || !isObject(usage))
    throw wrongAnswer();
  const finishReason = finishOf(reason);
  if (finishReason.raw === undefined) throw wrongAnswer();
  return {
    content: (content as readonly unknown[]).flatMap(contentOf),
    finishReason,
    usage: noUsage,
    warnings: [],
    response: { id, modelId: model, body: message },
    providerMetadata: originalMetadata(text),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrongAnswer();
  }
}

async function readEvents({ body, headers }: Response): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  const isEventStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
  if (body === null || !isEventStream) throw wrongAnswer();
  const events = new AnthropicEvents();
  return body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .pipeThrough(
      new TransformStream({
        transform({ event, data }, controller) {
          for (const part of events.read(event, data)) controller.enqueue(part);
        },
      }),
    );
}
