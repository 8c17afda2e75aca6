/**
 * Carries the arguments of tool calls through the provider packages as they are.
 *
 * Arguments are the model's text. The packages parse it and write it anew, which rounds long numbers, replaces what is
 * no JSON object, and refuses names such as `__proto__`. So they get a stand-in: an object whose only member is the
 * text. The `fetch` under the packages puts the text in its place in requests, and a stand-in in the place of arguments
 * in answers.
 */
import { randomUUID } from 'node:crypto';
import type { JSONObject } from '@ai-sdk/provider';
import { endOfString } from '../../base/runtime/inexact-numbers.ts';
import type { Fetch } from './http.ts';
import { BufferedResponse } from './whole-response.ts';

/** The name of a stand-in's member. Nobody can guess it, so no text of a caller or a model is a stand-in. */
const name = `arguments-${randomUUID()}`;

/** How a stand-in begins. */
export const beginning = `{"${name}":`;

/** How a stand-in that was written into a text of a body begins. */
const beginningInText = `"{\\"${name}\\":`;

/** The `input` of a call for packages that write arguments as a text. */
export function standIn(text: string): JSONObject {
  return { [name]: text };
}

/** The arguments that a package read from an answer. */
export function argumentsOf(input: string): string {
  if (!input.startsWith(beginning)) return input;
  return (JSON.parse(input) as Record<string, string>)[name] ?? '';
}

/**
 * The `input` of a call for packages that send arguments as an object. The numbers are written as in the text.
 *
 * @returns undefined if the text is not a JSON object, or is nested too deep to be written
 */
export function exactObject(text: string): JSONObject | undefined {
  // Some models write nothing if a tool takes nothing.
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text, withExactNumbers);
    if (typeof value !== 'object' || value === null || Array.isArray(value) || isRawJson(value)) return undefined;
    JSON.stringify(value);
    return value as JSONObject;
  } catch {
    return undefined;
  }
}

// TypeScript does not know these yet: https://github.com/tc39/proposal-json-parse-with-source
const { rawJSON, isRawJSON: isRawJson } = JSON as unknown as {
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
};

function withExactNumbers(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value;
}

/** For packages that write arguments as a text: each text goes out as it is. */
export function withArgumentTexts(fetch: Fetch): Fetch {
  return (url, init) => {
    const body = init?.body;
    if (typeof body !== 'string' || !body.includes(beginningInText)) return fetch(url, init);
    return fetch(url, { ...init, body: putTexts(body) });
  };
}

function putTexts(body: string): string {
  const pieces: string[] = [];
  let end = 0;
  for (let start = body.indexOf(beginningInText); start !== -1; start = body.indexOf(beginningInText, end)) {
    pieces.push(body.slice(end, start));
    // Every quotation mark within the text has a backslash before it.
    end = body.indexOf('}"', start) + 2;
    pieces.push(JSON.stringify(argumentsOf(JSON.parse(body.slice(start, end)) as string)));
  }
  return pieces.join('') + body.slice(end);
}

/**
 * For packages that read arguments as an object: each object of an answer is read as its text, without the blanks
 * between its members.
 *
 * @param member The name of the members with arguments
 */
export function withArgumentObjects(fetch: Fetch, member: 'args' | 'input'): Fetch {
  const place = new RegExp(`(?<!\\\\)"${member}"\\s*:\\s*(?=\\{)`, 'g');
  const mapText = (text: string): string => putStandIns(text, place);
  return mapAnswers(fetch, `"${member}"`, mapText, mapText);
}

function putStandIns(text: string, place: RegExp): string {
  const pieces: string[] = [];
  let end = 0;
  place.lastIndex = 0;
  while (place.test(text)) {
    const start = place.lastIndex;
    const object = readObject(text, start);
    // The package will say that the answer is not JSON.
    if (object === undefined) break;
    // Anthropic's streams begin calls with an empty object, and the package waits for its text.
    const needsStandIn = object.text !== '{}';
    pieces.push(text.slice(end, start), needsStandIn ? JSON.stringify(standIn(object.text)) : object.text);
    ({ end } = object);
    place.lastIndex = end;
  }
  return pieces.join('') + text.slice(end);
}

/** The object that begins at `start`, without blanks, and where it ends. */
function readObject(text: string, start: number): { readonly text: string; readonly end: number } | undefined {
  const sign = /["{}]/g;
  sign.lastIndex = start;
  const pieces: string[] = [];
  let depth = 0;
  let end = start;
  while (sign.test(text)) {
    const at = sign.lastIndex - 1;
    pieces.push(text.slice(end, at).replace(/\s+/g, ''));
    end = text[at] === '"' ? endOfString(text, at) : at + 1;
    if (end === 0) return undefined;
    pieces.push(text.slice(at, end));
    sign.lastIndex = end;
    if (text[at] === '{') depth += 1;
    if (text[at] === '}') depth -= 1;
    if (depth === 0) return { text: pieces.join(''), end };
  }
  return undefined;
}

/**
 * Changes the answers to requests that have tools.
 *
 * @param sign What a body with arguments contains; other bodies pass as they are
 * @param mapBody for whole answers
 * @param mapLine for the lines of event streams
 */
export function mapAnswers(
  fetch: Fetch,
  sign: string,
  mapBody: (text: string) => string,
  mapLine: (line: string) => string,
): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (!response.ok || typeof init?.body !== 'string' || !init.body.includes('"tools"')) return response;
    const answer: unknown = response;
    if (answer instanceof BufferedResponse) {
      const bytes = Buffer.from(await response.arrayBuffer());
      if (!bytes.includes(sign)) return response;
      return answer.withBody(Buffer.from(mapBody(bytes.toString()))) as unknown as Response;
    }
    if (!/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) return response;
    const { status, statusText, ok, headers, body } = response;
    const lines = body?.pipeThrough(mapLines(mapLine));
    return { status, statusText, ok, headers, body: lines } as unknown as Response;
  };
}

function mapLines(map: (line: string) => string): TransformStream<Uint8Array, Uint8Array> {
  const encode = (lines: string): Uint8Array => Buffer.from(lines.split('\n').map(map).join('\n'));
  let pending: Uint8Array[] = [];
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const end = chunk.lastIndexOf(0x0a) + 1;
      if (end > 0) {
        controller.enqueue(encode(Buffer.concat([...pending, chunk.subarray(0, end)]).toString()));
        pending = [];
      }
      if (end < chunk.length) pending.push(chunk.subarray(end));
    },
    flush(controller) {
      if (pending.length > 0) controller.enqueue(encode(Buffer.concat(pending).toString()));
    },
  });
}
