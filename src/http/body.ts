import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseContentType } from 'content-type';
import { ProblemError } from '../errors/problem-error.ts';
import { CallerGoneError } from './caller-gone.ts';
import { findInexactNumber } from './inexact-numbers.ts';

/** How many bytes of a refused body are read and discarded, so that the caller receives the answer and not a reset. */
const lingerBytes = 32 * 1024 * 1024;
const lingerMs = 2_000;
/** Deepest nesting of arrays and objects in a body. */
const maxDepth = 64;

const jsonTypes = new Set(['application/json', 'application/json; charset=utf-8', 'application/json;charset=utf-8']);

/** True if the request announces a body that is not empty. */
function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** The most bytes of a request's body that are read: the announced number, else the limit. */
export function announcedBytes(request: IncomingMessage, limit: number): number {
  if (!hasBody(request)) return 0;
  const length = request.headers['content-length'];
  return length === undefined ? limit : Math.min(Number(length), limit);
}

/**
 * Reads and parses a JSON request body.
 * @param limit the most bytes
 * @returns the parsed value, or `undefined` for an empty body
 * @throws {ProblemError} content-too-large, unsupported-media-type, malformed-body
 */
export async function readJsonBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
): Promise<unknown> {
  if (!hasBody(request)) return undefined;
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    await linger(request);
    throw tooLarge(limit);
  }
  requireJson(request.headers['content-type'], request.headers['content-encoding']);
  const bytes = await read(request, response, limit);
  if (bytes.length === 0) return undefined;
  return parseJson(bytes);
}

/** @throws {ProblemError} unsupported-media-type unless the fields announce plain UTF-8 JSON. */
function requireJson(contentType: string | undefined, contentEncoding: string | undefined): void {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    throw new ProblemError('unsupported-media-type', { detail: 'Send the body without a content encoding.' });
  }
  if (contentType !== undefined && jsonTypes.has(contentType)) return;
  const parsed = contentType === undefined ? undefined : parseContentType(contentType);
  if (parsed?.type !== 'application/json') {
    throw new ProblemError('unsupported-media-type', { detail: 'Send the body as Content-Type: application/json.' });
  }
  if ((parsed.parameters['charset'] ?? 'utf-8').toLowerCase() !== 'utf-8') {
    throw new ProblemError('unsupported-media-type', {
      detail: 'The body must be UTF-8; no other charset is accepted.',
    });
  }
}

function read(request: IncomingMessage, response: ServerResponse, limit: number): Promise<Buffer> {
  if (request.headers.expect !== undefined) response.writeContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (): void => {
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= limit) {
        chunks.push(chunk);
        return;
      }
      settle();
      linger(request).then(() => {
        reject(tooLarge(limit));
      }, reject);
    };
    const onEnd = (): void => {
      settle();
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length));
    };
    const onGone = (): void => {
      settle();
      reject(new CallerGoneError());
    };
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

/** Discards the rest of a refused body, within bounds. */
function linger(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let length = 0;
    const done = (): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', done).off('close', done);
      resolve();
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > lingerBytes) done();
    };
    const timer = setTimeout(done, lingerMs);
    request.on('data', onData).on('end', done).on('close', done);
    if (request.headers.expect !== undefined) done();
    else request.resume();
  });
}

function tooLarge(limit: number): ProblemError {
  return new ProblemError('content-too-large', {
    detail: `The body is larger than ${limit} bytes.`,
    headers: { connection: 'close' },
  });
}

/** @throws {ProblemError} malformed-body */
function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new ProblemError('malformed-body', { detail: 'The body is not valid UTF-8.' });
  // Not by TextDecoder: its strings take two bytes for each character, and so do the values parsed from them. Sending
  // an answer made from these takes three times as long.
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // V8's message quotes the body. The caller only needs the position.
    const position = /position \d+|end of JSON input/.exec(error instanceof Error ? error.message : '')?.[0];
    throw new ProblemError('malformed-body', {
      detail: `The body is not valid JSON${position === undefined ? '' : ` (at ${position})`}.`,
    });
  }
  const { hasNumbers } = checkValues(value, text.includes('\\u') && /\\ud[89a-f]/i.test(text));
  const inexact = hasNumbers ? findInexactNumber(text) : undefined;
  if (inexact !== undefined) throw notExact(inexact);
  return value;
}

/**
 * Refuses valid JSON that cannot be processed: nesting that would exhaust the stack, and half surrogate pairs, which
 * escapes can contain but UTF-8 and databases cannot.
 */
function checkValues(value: unknown, surrogates: boolean): { hasNumbers: boolean } {
  let hasNumbers = typeof value === 'number';
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) {
      throw new ProblemError('malformed-body', { detail: `The body is nested deeper than ${maxDepth} levels.` });
    }
    const next: unknown[] = [];
    for (const node of level) {
      if (typeof node === 'object' && node !== null) {
        if (surrogates && Object.keys(node).some((key) => !key.isWellFormed())) throw unpaired();
        for (const member of Object.values(node)) {
          if (typeof member === 'number') hasNumbers = true;
          else if (typeof member === 'object' || (surrogates && typeof member === 'string')) next.push(member);
        }
      } else if (surrogates && typeof node === 'string' && !node.isWellFormed()) throw unpaired();
    }
    level = next;
  }
  return { hasNumbers };
}

function notExact(path: readonly (string | number)[]): ProblemError {
  const pointer = path.map((step) => `/${String(step).slice(0, 200).replaceAll('~', '~0').replaceAll('/', '~1')}`);
  return new ProblemError('malformed-body', {
    detail:
      'The body contains a number that a double cannot hold: it has too many digits, or is too large or too small.',
    errors: [
      {
        detail: 'is a number that a double cannot hold; send it as a string',
        pointer: `#${pointer.join('')}`.slice(0, 1_000),
      },
    ],
  });
}

function unpaired(): ProblemError {
  return new ProblemError('malformed-body', { detail: 'The body contains an unpaired surrogate escape.' });
}
