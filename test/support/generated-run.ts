import { toInstant } from '../../src/base/runtime/instants.ts';
import fc from 'fast-check';
import pLimit from 'p-limit';
import stringify from 'safe-stable-stringify';
import { operationTable, type OperationId, type OperationRow, type Scope } from '../../generated/operations.ts';
import type { WireAnswer } from './contract-check.ts';
import { findOperation } from './find-operation.ts';
import { calls, createTraffic, findFaults, type Call } from './generated-traffic.ts';
import type { GeneratedRequest, RequestOptions } from './request-arbitraries.ts';
import type { TestService } from './service.ts';

export type Json = Record<string, unknown>;

/** Sends generated requests over HTTP to a running service, and records the results. */
export interface GeneratedRun {
  /** Everything that was wrong with any answer. */
  readonly faults: readonly string[];
  /** The number of answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Sends this number of generated requests from all callers: valid, borderline, broken and hostile ones. */
  sendGenerated(options: RequestOptions, count: number): Promise<void>;
  /**
   * Sends a request of the administrator and checks its answer like those of generated requests. @returns the body of
   * the answer
   */
  send(method: string, url: string, body?: unknown): Promise<Json>;
  /**
   * Reads as the administrator. Repeats the request while the database is unavailable.
   *
   * @throws if the answer is outside the contract or not a success
   */
  read(url: string): Promise<WireAnswer>;
  /** All entries of a list, page by page. */
  readAll(path: string): Promise<Json[]>;
  close(): Promise<void>;
}

export interface GeneratedRunOptions {
  readonly service: TestService;
  /** Callers besides the administrator, by name. Callers without a key and with unknown keys are added. */
  readonly callers: Readonly<Record<string, Scope>>;
  readonly seed: number;
  /** Changes a request just before it is sent. */
  readonly prepare?: (request: GeneratedRequest) => GeneratedRequest;
  /** Records an answer. @returns what is wrong with it, apart from the contract */
  readonly examine: (call: Call, answer: WireAnswer) => string[] | Promise<string[]>;
}

/** The number of simultaneous requests. */
const connections = 8;

export async function createGeneratedRun({
  service,
  callers,
  seed,
  prepare = (request) => request,
  examine,
}: GeneratedRunOptions): Promise<GeneratedRun> {
  const keys: Record<string, string> = { administrator: service.adminKey };
  for (const [name, scope] of Object.entries(callers)) keys[name] = await service.createKey(scope);
  const traffic = createTraffic(service.url, keys, connections);
  const faults: string[] = [];
  const statuses = new Map<number, number>();

  const perform = async ({ request, caller }: Call, name: string): Promise<WireAnswer | undefined> => {
    const call = { request: prepare(request), caller };
    const report = (fault: string): void => {
      const sent = JSON.stringify(call.request).slice(0, 1_000);
      faults.push(`FC_SEED=${seed}, ${name} by ${caller ?? 'nobody'}: ${sent}\n${fault}`);
    };
    try {
      const answer = await traffic.send(call);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const found = [...findFaults(call, answer), ...(await examine(call, answer))];
      if (isRepeatable(call, answer)) found.push(...compareRepetition(answer, await traffic.send(call)));
      if (found.length > 0) report(`${found.join('; ')}\n${answer.text.slice(0, 500)}`);
      return answer;
    } catch (error) {
      report(String(error));
      return undefined;
    }
  };

  const read = async (url: string): Promise<WireAnswer> => {
    const call = byAdministrator('GET', url);
    for (let attempts = 1; ; attempts += 1) {
      const answer = await traffic.send(call);
      const found = findFaults(call, answer);
      if (answer.status === 200 && found.length === 0) return answer;
      // These requests read the stored data. SecantusDB's Python server sometimes does not answer for seconds.
      const isAway = found.length === 1 && found[0] === 'status 503';
      if (!isAway || attempts === 5) {
        throw new Error(`GET ${url} answered ${answer.status}: ${found.join('; ')}\n${answer.text.slice(0, 500)}`);
      }
    }
  };

  return {
    faults,
    statuses,
    async sendGenerated(options, count) {
      const names = [...Object.keys(keys), 'unknown-key', '{"$ne":null}'];
      const generated = fc.sample(calls(names, options), { seed, numRuns: count });
      const limit = pLimit(connections);
      await Promise.all(generated.map((call, index) => limit(() => perform(call, `request ${index}`))));
    },
    async send(method, url, body) {
      const answer = await perform(byAdministrator(method, url, body), 'a request of the test');
      return JSON.parse(answer?.text ?? '{}') as Json;
    },
    read,
    async readAll(path) {
      const entries: Json[] = [];
      for (let after = ''; ;) {
        const { text } = await read(`${path}${path.includes('?') ? '&' : '?'}limit=100${after}`);
        const { data, pagination } = JSON.parse(text) as { data: Json[]; pagination: { next: string | null } };
        entries.push(...data);
        if (pagination.next === null) return entries;
        after = `&after=${pagination.next}`;
      }
    },
    close: () => traffic.close(),
  };
}

function byAdministrator(method: string, url: string, body?: unknown): Call {
  const operationId = findOperation(method, url);
  if (operationId === undefined) throw new Error(`there is no operation ${method} ${url}`);
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  return {
    request: { operationId, method, url, headers, body: body === undefined ? undefined : JSON.stringify(body) },
    caller: 'administrator',
  };
}

/** Whether the request succeeded and can be repeated without a second effect. */
function isRepeatable({ request: { method, url, headers } }: Call, { status }: WireAnswer): boolean {
  const operationId = findOperation(method, url);
  if (operationId === undefined || method === 'HEAD' || status >= 300) return false;
  const row: OperationRow = operationTable[operationId];
  const takesKey = row.parameters.some(({ name }) => name === 'Idempotency-Key');
  return takesKey && headers['idempotency-key'] !== undefined;
}

function withJoinedTexts({ text }: WireAnswer): string {
  return text.replaceAll('"}\n\nevent: text\ndata: {"type":"text","delta":"', '');
}

function compareRepetition(first: WireAnswer, second: WireAnswer): string[] {
  // A repetition gets the texts of a stream as one.
  const isSame = second.status === first.status && withJoinedTexts(second) === withJoinedTexts(first);
  if (isSame && second.headers['idempotency-replayed'] === 'true') return [];
  return [`repeated under its Idempotency-Key it was answered ${second.status} ${second.text.slice(0, 500)}`];
}

/** JSON that is the same text for equal values. */
export function canonical(value: unknown): string {
  return stringify(value) ?? '';
}

/** The parts of a request and its answer about a written resource. */
export interface Write {
  readonly operationId: OperationId;
  readonly etag: string;
  readonly sent: Json;
  readonly answer: Json;
  readonly isReplayed: boolean;
}

/** The write of a call, if it succeeded and is one of these operations. */
export function writeOf(
  operations: readonly OperationId[],
  { request: { method, url, body } }: Call,
  { status, headers, text }: WireAnswer,
): Write | undefined {
  const operationId = findOperation(method, url);
  if (operationId === undefined || status >= 300 || !operations.includes(operationId)) return undefined;
  // An operation that takes no body ignores it, whatever it is.
  const { bodyLimit }: OperationRow = operationTable[operationId];
  const isEmpty = bodyLimit === 0 || body === undefined || body === '';
  return {
    operationId,
    etag: headers['etag'] ?? '',
    sent: JSON.parse(isEmpty ? '{}' : body) as Json,
    answer: JSON.parse(text) as Json,
    isReplayed: headers['idempotency-replayed'] !== undefined,
  };
}

/** Values that mean the same as a missing member. They may be missing in the answer. */
const sayingNothing: Readonly<Record<string, string>> = {
  ...{
    strict: 'false',
    variables: '{}',
    parameters: '{}',
    provider_options: '{}',
    tools: '[]',
    fallbacks: '[]',
    aliases: '[]',
  },
  retries: '0',
};

/** Moments come back in UTC, in whole milliseconds. */
function asStored(name: string, value: unknown): unknown {
  return name === 'unavailable_until' && typeof value === 'string' ? toInstant(value).toISOString() : value;
}

/**
 * Compares an answer with its request.
 *
 * @param own members that the service sets
 */
export function findUnlike({ sent, answer }: Write, own: readonly string[]): string[] {
  return Object.keys(sent)
    .filter((name) => !own.includes(name))
    .filter((name) => canonical(answer[name] ?? null) !== canonical(asStored(name, sent[name])))
    .filter((name) => !(answer[name] === undefined && sayingNothing[name] === canonical(sent[name])))
    .map((name) => `${name} is not what was sent`);
}
