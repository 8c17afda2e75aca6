/** What a handler returns, as HTTP. */
import type { Request, Response } from 'express';
import type { OperationRow } from '../../generated/operations.ts';
import { JsonText } from '../base/runtime/json-text.ts';
import {
  discardStream,
  eventStreamType,
  sendBody,
  type AnswerStream,
  type EventStream,
  type StreamedAnswer,
} from './answer-stream.ts';
import { ifNoneMatch } from './conditional.ts';
import type { PreparedBody } from './operation.ts';
import type { RawAnswer } from './problem-response.ts';

/** The result of any handler. The types of each are narrower. */
export interface HandlerResult {
  readonly status: number;
  readonly headers?: object;
  readonly body?: unknown;
  readonly prepared?: PreparedBody;
  readonly stream?: AnswerStream | EventStream;
}

export function serialise(row: OperationRow, result: HandlerResult): RawAnswer {
  const { status, body } = result;
  const mediaType = row.responses[status] ?? undefined;
  const headers = headersOf(result, mediaType);
  if (mediaType === undefined) return { status, headers, body: '' };
  if (body instanceof JsonText) return { status, headers, body: body.text };
  return {
    status,
    headers,
    body: typeof body === 'string' && mediaType !== 'application/json' ? body : JSON.stringify(body),
  };
}

export function streamed(result: HandlerResult, stream: AnswerStream | EventStream): StreamedAnswer {
  const headers = headersOf(result, stream.mediaType);
  // Reverse proxies pass on the events at once.
  if (stream.mediaType === eventStreamType) headers['x-accel-buffering'] = 'no';
  return { status: result.status, headers, body: '', stream };
}

function headersOf(result: HandlerResult, mediaType: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(result.headers ?? {})) headers[name.toLowerCase()] = String(value);
  if (mediaType !== undefined) {
    headers['content-type'] = mediaType === 'application/json' ? 'application/json; charset=utf-8' : mediaType;
  }
  return headers;
}

/** Caches can keep a copy of an answer that never changes, if they revalidate it each time. */
export async function prepared(request: Request, { text, content }: PreparedBody): Promise<RawAnswer> {
  const { status, headers, body } = await content.answer(request.headers);
  const kept = { ...headers, 'cache-control': 'no-cache' };
  return status === 304 ? { status, headers: kept, body: '' } : { status, headers: kept, body: text, bytes: body };
}

/** The answer, or 304 if the caller has it. */
export function notModified<Answer extends RawAnswer | StreamedAnswer>(
  request: Request,
  answer: Answer,
): Answer | RawAnswer {
  const etag = answer.headers['etag'];
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead || answer.status !== 200 || etag === undefined) return answer;
  if (!ifNoneMatch(request.headers['if-none-match'], etag)) return answer;
  if (answer.stream !== undefined) discardStream(answer.stream);
  return { status: 304, headers: { etag }, body: '' };
}

/** Callers behind a proxy need the path that it removes from their requests. Stored answers are without it. */
export function withBasePath(headers: Readonly<Record<string, string>>, basePath: string): Record<string, string> {
  const { location, link, ...others } = headers;
  return {
    ...others,
    ...(location !== undefined && { location: basePath + location }),
    ...(link !== undefined && { link: link.replace('</', `<${basePath}/`) }),
  };
}

/** Writes an answer, or the head of a streamed one; returns it with the fields that were added. */
export function sendAnswer(
  response: Response,
  answer: RawAnswer | StreamedAnswer,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): RawAnswer {
  const { status, stream } = answer;
  const all: Record<string, string> = { 'cache-control': 'no-store', 'x-request-id': requestId };
  Object.assign(all, headers, answer.headers);
  const sent: RawAnswer = { status, headers: all, body: answer.body };
  if (response.destroyed || response.headersSent) return sent;
  if (stream !== undefined) {
    if ('length' in stream && stream.length !== undefined) all['content-length'] = String(stream.length);
    response.writeHead(status, all);
  } else if (status === 204 || status === 304) {
    response.writeHead(status, all).end();
  } else {
    all['content-length'] = String(answer.bytes?.length ?? Buffer.byteLength(answer.body));
    sendBody(response.writeHead(status, all), answer.bytes ?? answer.body);
  }
  return sent;
}
