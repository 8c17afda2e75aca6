import fc from 'fast-check';
import { Pool, type Dispatcher } from 'undici';
import { operationTable, type OperationRow } from '../../generated/operations.ts';
import { checkAnswer, problemSlug, type WireAnswer } from './contract-check.ts';
import { findOperation } from './find-operation.ts';
import { requests, type GeneratedRequest, type RequestOptions } from './request-arbitraries.ts';

/** A generated request and its caller. */
export interface Call {
  readonly request: GeneratedRequest;
  /** A name from the list of keys, or none. */
  readonly caller: string | undefined;
}

/** Calls of all kinds. One in a hundred has a body that is too large. */
export function calls(callers: readonly string[], options: RequestOptions): fc.Arbitrary<Call> {
  const [first = 'administrator', ...others] = callers;
  const usual = requests(options);
  const oversized = usual.map((request) => ({
    ...request,
    body: JSON.stringify({ name: 'x'.repeat(1_100_000) }),
  }));
  return fc.record({
    request: fc.oneof({ weight: 299, arbitrary: usual }, { weight: 1, arbitrary: oversized }),
    caller: fc.oneof(
      { weight: 25, arbitrary: fc.constant(first) },
      { weight: 1, arbitrary: fc.constantFrom(...others, undefined) },
    ),
  });
}

/** Sends calls over kept-alive connections, and checks their answers. */
export interface Traffic {
  send(call: Call): Promise<WireAnswer>;
  close(): Promise<void>;
}

export function createTraffic(url: string, keys: Readonly<Record<string, string>>, connections: number): Traffic {
  const pool = new Pool(url, { connections });
  return {
    async send({ request: { method, url: path, headers, body }, caller }) {
      const authorization = caller === undefined ? {} : { authorization: `Bearer ${keys[caller] ?? caller}` };
      const {
        statusCode,
        headers: received,
        body: stream,
      } = await pool.request({
        method: method as Dispatcher.HttpMethod,
        path,
        headers: { ...headers, ...authorization },
        body: body ?? null,
      });
      return { status: statusCode, headers: received as Record<string, string>, text: await stream.text() };
    },
    close: () => pool.close(),
  };
}

/** Problem types that any path can have, as the introduction of the contract says. */
const outside = ['bad-request', 'route-not-found', 'method-not-allowed'];
/** Failures of other servers, not of the service. */
const allowedFailures = /^(provider-|not-cached$)/;

/** Everything that is wrong with an answer: failures of the service, and anything outside the contract. */
export function findFaults({ request: { method, url } }: Call, answer: WireAnswer): string[] {
  const operationId = findOperation(method, url);
  const slug = problemSlug(answer);
  if (method === 'HEAD') {
    if (answer.text !== '') return ['a body in answer to HEAD'];
    return answer.status >= 500 && answer.status !== 504 ? [`status ${answer.status}`] : [];
  }
  if (slug !== undefined && outside.includes(slug)) {
    const row: OperationRow | undefined = operationId === undefined ? undefined : operationTable[operationId];
    return row === undefined || slug === 'bad-request' ? [] : [`${slug} at an operation's path`];
  }
  if (method === 'OPTIONS') {
    const fine = answer.status === 204 && answer.text === '' && answer.headers['allow']?.includes('OPTIONS') === true;
    return fine ? [] : [`status ${answer.status} to OPTIONS`];
  }
  if (operationId === undefined) return [`status ${answer.status} where there is no operation`];
  const failed = answer.status >= 500 && !allowedFailures.test(slug ?? '');
  return [...(failed ? [`status ${answer.status}`] : []), ...checkAnswer(operationId, answer)];
}
