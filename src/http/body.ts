import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseContentType } from 'content-type';
import type { OperationRow } from '../../generated/operations.ts';
import { ProblemError } from '../base/errors/problem-error.ts';
import type { MemoryBudget, RequestMemory } from '../base/limits/memory-budget.ts';
import type { JsonPath } from '../base/runtime/json-pointer.ts';
import type { Turns } from '../base/runtime/turns.ts';
import { BodyScanner } from './body-scanner.ts';
import { CallerGoneError, hangUpSignal } from './caller-gone.ts';
import { leaveOutNulls } from './left-out-nulls.ts';
import { parseJson } from './parse-json.ts';
import { parseLargeBody } from './large-body.ts';
import { hasBody } from './unread-body.ts';

/** Bodies up to this size are not counted, and parsed at once. */
const smallBytes = 16 * 1024;
/** Bodies up to this size do not wait for memory to be read. */
const waitFreeBytes = 64 * 1024;
/** Memory for a byte of a body: as it came, as strings of one or two bytes a character, and as text for a provider. */
const bodyCopies = 6;
/** Memory for a member or element, besides its text. */
const valueBytes = 160;
/** Bytes of the pieces in which a body of unknown length is kept. */
const blockBytes = 256 * 1024;
/** How long a body may take, as far as it keeps others waiting, in milliseconds. */
const slowestMs = 60_000;
/** How long a body is never too slow, and how often this is checked, in milliseconds. */
const graceMs = 5_000;
const checkMs = 1_000;

const jsonTypes = new Set(['application/json', 'application/json; charset=utf-8', 'application/json;charset=utf-8']);

const linesType = 'application/x-ndjson';

/** Refusals of a body in another form than JSON. */
const isOfForm: ReadonlySet<string> = new Set(['unsupported-media-type', 'malformed-body']);

/** The memory for the bodies of requests. */
export interface BodyMemory {
  readonly family: string;
  readonly budget: Pick<MemoryBudget, 'awaitBody' | 'isBodyAwaited'>;
  /** That of this request. */
  readonly own: () => RequestMemory;
  /** For the work on large bodies. */
  readonly turns: Turns;
}

/** A body whose text is kept for its handler. */
export interface KeptBody {
  /** The handler reads the numbers at this path from the text, so that doubles need not hold them. */
  readonly numbersAt: JsonPath;
}

export interface ReadBody {
  /** The parsed value, or `undefined` for an empty body. */
  readonly value: unknown;
  /** Its members and elements, and bytes, if they were counted. */
  readonly parts?: number;
  readonly bytes?: number;
  /** The bytes, if they are kept. */
  readonly content?: Buffer;
}

/**
 * Reads and parses a JSON request body. The memory for a large one is counted first, and its members and elements are
 * counted before it is parsed.
 *
 * @param bodyLimit the most bytes
 * @param linesAs where JSON Lines belong, which the refusal of such a body names
 * @param keeps if the bytes are returned too
 * @throws {ProblemError} content-too-large, unsupported-media-type, malformed-body; request-timeout,
 *   too-much-in-progress, overloaded
 * @throws {CallerGoneError}
 */
export async function readJsonBody(
  request: IncomingMessage,
  response: ServerResponse,
  {
    bodyLimit: limit,
    valueLimit,
    linesAs,
    nullsKeptIn,
  }: Pick<OperationRow, 'bodyLimit' | 'valueLimit' | 'linesAs' | 'nullsKeptIn'>,
  memory: BodyMemory,
  keeps?: KeptBody,
): Promise<ReadBody> {
  if (!hasBody(request)) return { value: undefined };
  const { 'content-length': length } = request.headers;
  const announced = length === undefined ? undefined : Number(length);
  if (announced !== undefined && announced > limit) throw tooLarge(limit);
  try {
    requireJson(request.headers['content-type'], request.headers['content-encoding']);
    const read =
      (announced ?? limit) <= smallBytes
        ? await readSmallBody(request, response, limit, keeps)
        : await readLargeBody(request, response, { limit, announced, valueLimit }, memory, keeps);
    if (nullsKeptIn !== undefined) leaveOutNulls(read.value, nullsKeptIn);
    if (keeps !== undefined) return read;
    const { content: _, ...others } = read;
    return others;
  } catch (error) {
    if (linesAs === undefined || !(error instanceof ProblemError) || !isOfForm.has(error.type)) throw error;
    const { type, message, headers, errors = [] } = error;
    const detail = `${message} JSON Lines are sent as {"${linesAs}": [<line>, <line>]}.`;
    throw new ProblemError(type, { detail, headers, ...(errors.length > 0 && { errors: [...errors] }) });
  }
}

/**
 * Opens a body of JSON Lines.
 *
 * @returns it in pieces as they arrive; undefined for an empty body. Reading throws {ProblemError} content-too-large and
 *   {CallerGoneError}
 * @throws {ProblemError} content-too-large, unsupported-media-type
 */
export async function openLinesBody(
  request: IncomingMessage,
  response: ServerResponse,
  { bodyLimit: limit }: Pick<OperationRow, 'bodyLimit'>,
): Promise<AsyncIterable<Buffer> | undefined> {
  if (!hasBody(request)) return undefined;
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  requireJson(request.headers['content-type'], request.headers['content-encoding'], linesType);
  return chunksOf(request, response, limit);
}

/** A body in pieces as they arrive. @throws {ProblemError} content-too-large @throws {CallerGoneError} */
export async function* chunksOf(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
): AsyncGenerator<Buffer> {
  try {
    if (request.headers.expect !== undefined) response.writeContinue();
    let length = 0;
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > limit) throw tooLarge(limit);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof ProblemError ? error : new CallerGoneError();
  }
}

async function readSmallBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  keeps: KeptBody | undefined,
): Promise<ReadBody> {
  const chunks: Buffer[] = [];
  let length = 0;
  const take = (chunk: Buffer): undefined => {
    length += chunk.length;
    if (length > limit) throw tooLarge(limit);
    chunks.push(chunk);
  };
  await receive(request, response, take);
  const [first] = chunks;
  if (first === undefined) return { value: undefined };
  const content = chunks.length === 1 ? first : Buffer.concat(chunks, length);
  return { value: parseJson(content, keeps?.numbersAt), content };
}

async function readLargeBody(
  request: IncomingMessage,
  response: ServerResponse,
  { limit, announced, valueLimit }: { limit: number; announced: number | undefined; valueLimit: number | undefined },
  { family, budget, own, turns }: BodyMemory,
  keeps: KeptBody | undefined,
): Promise<ReadBody> {
  const signal = hangUpSignal(response);
  const memory = own();
  let release: (() => void) | undefined;
  /** Since when the body keeps others waiting. */
  let since = 0;
  const awaitMemory = async (): Promise<void> => {
    release = await budget.awaitBody(family, announced ?? limit, signal);
    since = performance.now();
  };
  try {
    if ((announced ?? 0) > waitFreeBytes) await awaitMemory();
    else await memory.cover(waitFreeBytes * bodyCopies, signal);
    const scanner = new BodyScanner(valueLimit);
    const content = new BodyContent(announced ?? blockBytes);
    const isLate = (): boolean => {
      if (release === undefined) return false;
      const elapsed = performance.now() - since;
      return elapsed > graceMs && content.length < (announced ?? limit) * (elapsed / slowestMs) && budget.isBodyAwaited;
    };
    const take = (chunk: Buffer): Promise<void> | undefined => {
      if (content.length + chunk.length > limit) throw tooLarge(limit);
      const excess = scanner.scan(chunk);
      if (excess !== undefined) throw tooMany(excess);
      content.add(chunk);
      return release === undefined && content.length > waitFreeBytes ? awaitMemory() : undefined;
    };
    await receive(request, response, take, isLate);
    if (content.length === 0) return { value: undefined };
    await memory.cover(content.length * bodyCopies + scanner.values * valueBytes, signal);
    release?.();
    const whole = content.whole();
    const value = await parseLargeBody(whole, scanner.longStrings, turns, keeps?.numbersAt);
    return { value, parts: scanner.values, bytes: content.length, content: whole };
  } finally {
    release?.();
  }
}

function tooMany(detail: string): ProblemError {
  return new ProblemError('malformed-body', { detail });
}

/** The bytes of a body, in few pieces however small the chunks are in which they come. */
class BodyContent {
  length = 0;
  readonly #blocks: Buffer[] = [];
  #free: Buffer;

  /** @param expected bytes; memory that is not written to is not used */
  constructor(expected: number) {
    this.#free = Buffer.allocUnsafeSlow(expected);
    this.#blocks.push(this.#free);
  }

  add(chunk: Buffer): void {
    this.length += chunk.length;
    for (let rest = chunk; rest.length > 0;) {
      if (this.#free.length === 0) {
        this.#free = Buffer.allocUnsafeSlow(blockBytes);
        this.#blocks.push(this.#free);
      }
      const copied = rest.copy(this.#free);
      this.#free = this.#free.subarray(copied);
      rest = rest.subarray(copied);
    }
  }

  /** All bytes. Call it once. */
  whole(): Buffer {
    const [first] = this.#blocks;
    const blocks = this.#blocks.splice(0);
    return blocks.length === 1 && first !== undefined
      ? first.subarray(0, this.length)
      : Buffer.concat(blocks, this.length);
  }
}

/**
 * Reads a body.
 *
 * @param take gets each chunk; reading goes on when what it returns is fulfilled
 * @param isLate checked every second
 */
function receive(
  request: IncomingMessage,
  response: ServerResponse,
  take: (chunk: Buffer) => Promise<void> | undefined,
  isLate?: () => boolean,
): Promise<void> {
  if (request.headers.expect !== undefined) response.writeContinue();
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearInterval(checks);
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
    };
    const fail = (error: unknown): void => {
      settle();
      reject(error as Error);
    };
    const check = (): void => {
      if (isLate?.() !== true) return;
      const detail = 'The body arrives too slowly while other requests wait for its memory.';
      fail(new ProblemError('request-timeout', { detail }));
    };
    const checks = isLate && setInterval(check, checkMs);
    const onData = (chunk: Buffer): void => {
      try {
        const pause = take(chunk);
        if (pause === undefined) return;
        request.pause();
        pause.then(() => request.resume(), fail);
      } catch (error) {
        fail(error);
      }
    };
    const onEnd = (): void => {
      settle();
      resolve();
    };
    const onGone = (): void => {
      fail(new CallerGoneError());
    };
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

/** @throws {ProblemError} unsupported-media-type unless the fields announce plain UTF-8 JSON. */
function requireJson(
  contentType: string | undefined,
  contentEncoding: string | undefined,
  expected = 'application/json',
): void {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    throw new ProblemError('unsupported-media-type', { detail: 'Send the body without a content encoding.' });
  }
  if (contentType !== undefined && expected === 'application/json' && jsonTypes.has(contentType)) return;
  const parsed = contentType === undefined ? undefined : parseContentType(contentType);
  if (parsed?.type !== expected) {
    throw new ProblemError('unsupported-media-type', { detail: `Send the body as Content-Type: ${expected}.` });
  }
  if ((parsed.parameters['charset'] ?? 'utf-8').toLowerCase() !== 'utf-8') {
    throw new ProblemError('unsupported-media-type', {
      detail: 'The body must be UTF-8; no other charset is accepted.',
    });
  }
}

function tooLarge(limit: number): ProblemError {
  return new ProblemError('content-too-large', { detail: `The body is larger than ${limit} bytes.` });
}
