import { operationTable, type OperationRow } from '../../generated/operations.ts';
import { findOperation } from './find-operation.ts';
import type { GeneratedRequest } from './request-arbitraries.ts';

/** Something that the service and express-openapi-validator are known to see differently. */
export interface KnownDifference {
  readonly name: string;
  /** Who refuses what the other one accepts, and why the service is right. */
  readonly refusedBy: 'service' | 'referee';
  readonly reason: string;
  /** Shows the difference: when the two agree on it, the entry is stale. */
  readonly example: GeneratedRequest;
  /** Could the request show this difference? As narrow as it can be said. */
  readonly covers: (request: GeneratedRequest) => boolean;
}

const json = { 'content-type': 'application/json' };
const list: GeneratedRequest = {
  operationId: 'listPrompts',
  method: 'GET',
  url: '/api/v1/prompts',
  headers: {},
  body: undefined,
};
const invoke: GeneratedRequest = {
  operationId: 'invokePrompt',
  method: 'POST',
  url: '/api/v1/prompts/x/invoke',
  headers: json,
  body: '{}',
};
const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

/** Every difference by name. What is not in this list, the two have to agree on. */
export const knownDifferences: readonly KnownDifference[] = [
  {
    name: 'integer-spelling',
    refusedBy: 'service',
    reason: 'The referee converts with Number(), which takes 0x10, 1e2, 007 and even 1e999.',
    example: { ...list, url: '/api/v1/prompts?limit=0x10' },
    covers: (request) => integerTexts(request).some((text) => !/^(0|-?[1-9]\d{0,14})$/.test(text)),
  },
  {
    name: 'leading-bracket',
    refusedBy: 'service',
    reason: 'The query parser of the referee drops parameters whose name begins with a bracket.',
    example: { ...list, url: '/api/v1/prompts?[zzz]=5' },
    covers: ({ url }) => [...searchOf(url).keys()].some((name) => name.startsWith('[')),
  },
  {
    name: 'trailing-slash',
    refusedBy: 'service',
    reason: 'The referee hands `strict` to a release of path-to-regexp that calls it `trailing`.',
    example: { ...list, url: '/api/v1/prompts/' },
    covers: ({ url }) => pathOf(url).endsWith('/'),
  },
  {
    name: 'empty-body',
    refusedBy: 'service',
    reason: 'The referee takes a required body to be there unless its schema has required members.',
    example: { operationId: 'updatePrompt', method: 'PUT', url: '/api/v1/prompts/x', headers: json, body: '' },
    covers: (request) => rowOf(request)?.body === 'required' && (request.body ?? '') === '',
  },
  {
    name: 'missing-media-type',
    refusedBy: 'service',
    reason: 'The referee does not look at an optional body that has no media type.',
    example: { ...invoke, headers: {}, body: '{"unknown":1}' },
    covers: ({ headers, body }) => (headers['content-type'] ?? '') === '' && (body ?? '') !== '',
  },
  {
    name: 'media-type-of-nothing',
    refusedBy: 'referee',
    reason: 'Without a body there is nothing that a media type could be wrong for.',
    example: { ...invoke, headers: { 'content-type': 'text/plain' }, body: undefined },
    covers: (request) => rowOf(request)?.body === 'optional' && (request.body ?? '') === '',
  },
  {
    name: 'charset',
    refusedBy: 'service',
    reason: 'JSON is UTF-8 (RFC 8259, section 8.1); the referee sees the body parsed.',
    example: { ...invoke, headers: { 'content-type': 'application/json; charset=latin1' } },
    covers: ({ headers }) => /charset=(?!"?utf-8\b)/i.test(headers['content-type'] ?? ''),
  },
  {
    name: 'content-encoding',
    refusedBy: 'service',
    reason: 'Compressed bodies are not read, and the referee sees the body parsed.',
    example: { ...invoke, headers: { ...json, 'content-encoding': 'gzip' } },
    covers: ({ headers }) => headers['content-encoding'] !== undefined,
  },
  {
    name: 'lone-surrogate',
    refusedBy: 'service',
    reason: 'Half a surrogate pair is JSON, but no database would give it back as it was.',
    example: { ...invoke, body: '{"variables":{"a":"\\ud800"}}' },
    covers: ({ body }) => /\\ud[89a-f]/i.test(body ?? ''),
  },
  {
    name: 'inexact-number',
    refusedBy: 'service',
    reason: 'The referee sees the body parsed, when the digits of a long number are gone.',
    example: { ...invoke, body: '{"variables":{"a":12345678901234567890}}' },
    covers: ({ body }) => /[\d.]{16}|\de/i.test(body ?? ''),
  },
  {
    name: 'nesting-depth',
    refusedBy: 'service',
    reason: 'Deeper nesting than 64 is refused before anything walks it.',
    example: { ...invoke, body: `{"variables":{"a":${deep(80)}}}` },
    covers: ({ body }) => body?.includes(deep(60)) === true,
  },
  {
    name: 'header-not-taken',
    refusedBy: 'service',
    reason: 'A caller relies on If-Match and Idempotency-Key; the referee ignores headers that are not declared.',
    example: { ...list, headers: { 'if-match': '*' } },
    covers: (request) =>
      ['If-Match', 'Idempotency-Key'].some(
        (name) =>
          request.headers[name.toLowerCase()] !== undefined &&
          rowOf(request)?.parameters.some((parameter) => parameter.name === name) === false,
      ),
  },
  {
    name: 'slash-in-model',
    refusedBy: 'referee',
    reason: 'Some SDKs do not encode the slash in the name of a model; a path parameter of the contract has none.',
    example: { operationId: 'getModel', method: 'GET', url: '/v1/models/echo/echo-1', headers: {}, body: undefined },
    covers: ({ url }) => /^\/v1\/models(?:\/[^/]+){2,}$/.test(pathOf(url)),
  },
  {
    name: 'head',
    refusedBy: 'referee',
    reason: 'HEAD answers as GET does (RFC 9110, section 9.3.2); the contract does not list it.',
    example: { ...list, method: 'HEAD' },
    covers: ({ method }) => method === 'HEAD',
  },
  {
    name: 'options',
    refusedBy: 'referee',
    reason: 'OPTIONS answers with Allow at every path; the contract does not list it.',
    example: { ...list, method: 'OPTIONS' },
    covers: ({ method }) => method === 'OPTIONS',
  },
];

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}

function searchOf(url: string): URLSearchParams {
  return new URLSearchParams(url.slice(pathOf(url).length));
}

function rowOf({ method, url }: GeneratedRequest): OperationRow | undefined {
  const operationId = findOperation(method, url);
  return operationId === undefined ? undefined : operationTable[operationId];
}

/** The texts that a request has for the integer parameters of its operation. */
function integerTexts(request: GeneratedRequest): string[] {
  const row = rowOf(request);
  const segments = pathOf(request.url).split('/');
  return (row?.parameters ?? [])
    .filter(({ type }) => type === 'integer')
    .flatMap(({ name, in: place }) => {
      if (place === 'query') return searchOf(request.url).getAll(name);
      if (place === 'header') return request.headers[name.toLowerCase()] ?? [];
      const text = segments[row?.path.split('/').indexOf(`{${name}}`) ?? -1];
      return text === undefined ? [] : decodeURIComponent(text.replace(/%(?![0-9a-f]{2})/gi, '%25'));
    });
}
