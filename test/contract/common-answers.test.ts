import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operationTable, type OperationId, type OperationRow, type Scope } from '../../generated/operations.ts';
import { effectiveScopes } from '../../src/access/api-keys/scopes.ts';
import { allScopes } from '../../src/access/api-keys/feature.ts';
import type { Database } from '../../src/storage/db/client.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { createMemoryBudget } from '../../src/base/limits/memory-budget.ts';
import { bareKeyId, createBareRouter } from '../support/bare-router.ts';
import { checkAnswer, type WireAnswer } from '../support/contract-check.ts';
import { callEveryOperation, environmentOfEveryOperation, type Call } from '../support/every-operation.ts';
import { openDatabaseOf, problem, problemIn, startAnother } from '../support/per-operation.ts';
import { recordAnswer } from '../support/recorded-answers.ts';
import { startTestService, type Answer, type CallOptions, type TestService } from '../support/service.ts';

/** Tests the answers that are the same for all operations. The 503 of an unavailable database is in test/faults. */
const operations = Object.entries(operationTable) as [OperationId, OperationRow][];
const withKey = operations.filter(([, { needsKey }]) => needsKey);
const withScope = operations.filter(([, { scope }]) => scope !== null);
const withBody = operations.filter(([, { body }]) => body !== 'none');
const withJson = withBody.filter(([, { lineLimit }]) => lineLimit === undefined);
/** Bodies from callers without a key are small and not counted. */
const withLargeBody = withBody.filter(([, { needsKey }]) => needsKey);
const withParameter = (name: string): [OperationId, OperationRow][] =>
  operations.filter(([, { parameters }]) => parameters.some((parameter) => parameter.name === name));

let service: TestService;
let calls: Record<OperationId, Call>;
/** API keys with only this scope, and API keys with every scope except this one. */
const having = new Map<string | null, string>();
const lacking = new Map<string | null, string>();

beforeAll(async () => {
  service = await startTestService({ environment: environmentOfEveryOperation });
  calls = await callEveryOperation(service);
  for (const scope of allScopes) {
    having.set(scope, await service.createKey(scope));
    lacking.set(scope, await service.createKey(...allScopes.filter((other) => !effectiveScopes([other]).has(scope))));
  }
  // A key can change and revoke only keys that it created.
  const made = await call('createApiKey', { key: having.get('keys:manage') ?? '' });
  calls.updateApiKey = { ...calls.updateApiKey, path: `/api/v1/api-keys/${String(made.body.id)}` };
  calls.revokeApiKey = { method: 'POST', path: `/api/v1/api-keys/${String(made.body.id)}/revoke` };
});
afterAll(() => service.close());

/** Sends the valid call of an operation with some changes. */
function call(operation: OperationId, options: CallOptions & { query?: string } = {}, to = service): Promise<Answer> {
  const { method, path, ...valid } = calls[operation];
  return to.call(method, `${path}${options.query ?? ''}`, { ...valid, ...options });
}

let gates = 0;
/** A gate evaluates a content once. So it has other checks before each time. */
async function setAnotherGate(): Promise<void> {
  const checks = [{ type: 'contains', value: `${(gates += 1)}` }];
  const { status } = await call('setGate', { body: { ...(calls.setGate.body as object), checks } });
  expect(status).toBe(200);
}

describe('400', () => {
  it.each(operations)('%s refuses an unknown parameter', async (operation) => {
    const { status, body } = await call(operation, { query: '?unknown=1' });
    expect([status, problemIn(body)]).toEqual([400, problem('invalid-request')]);
    if (body.error === undefined) expect(body.errors).toMatchObject([{ parameter: 'unknown' }]);
    else expect(body.error.param ?? body.error.message).toContain('unknown');
  });

  it.each(withJson)('%s refuses a body that is not JSON', async (operation) => {
    const { status, body } = await call(operation, { body: '{"name": "x"' });
    expect([status, problemIn(body)]).toEqual([400, problem('malformed-body')]);
  });

  it.each(withJson)('%s refuses an unknown member of the body', async (operation) => {
    const { status, body } = await call(operation, { body: { ...(calls[operation].body as object), unknown: 1 } });
    expect([status, problemIn(body)]).toEqual([400, problem('invalid-request')]);
    if (body.error === undefined) expect(body.errors).toContainEqual(expect.objectContaining({ pointer: '#/unknown' }));
    else expect(body.error.param ?? body.error.message).toContain('unknown');
  });
});

describe.each([
  ['no key', null],
  ['a malformed key', 'pgw_nonsense'],
  ['an unknown key', `pgw_${'0'.repeat(32)}_${'A'.repeat(43)}`],
])('401 to %s', (_name, key) => {
  it.each(withKey)('%s', async (operation) => {
    const { status, body } = await call(operation, { key });
    expect([status, problemIn(body)]).toEqual([401, problem('unauthenticated')]);
  });
});

describe('403', () => {
  it.each(withScope)('%s refuses a key with all other scopes', async (operation, { scope }) => {
    const { status, body } = await call(operation, { key: lacking.get(scope) ?? '' });
    expect([status, problemIn(body)]).toEqual([403, problem('insufficient-scope')]);
  });
});

describe('404', () => {
  const withId = operations.filter(([, { path }]) => /\{(\w*[iI]d|slugOrId)\}/.test(path));
  it.each(withId)('%s says that the resource does not exist', async (operation) => {
    const { method, path, ...valid } = calls[operation];
    const missing = path.replace(/[0-9a-f]{12}(?=$|\/)|(?<=providers\/)echo/, '0'.repeat(12));
    expect(missing).not.toBe(path);
    const { status, body } = await service.call(method, missing, valid);
    expect([status, problemIn(body)]).toEqual([404, expect.stringMatching(/-not-found$/)]);
  });
});

describe('406', () => {
  it.each(operations)('%s refuses an Accept field that excludes its media type', async (operation) => {
    const { status, body } = await call(operation, { headers: { Accept: 'image/png' } });
    expect([status, problemIn(body)]).toEqual([406, problem('not-acceptable')]);
  });
});

describe('409', () => {
  const editing = operations.filter(([, { problems }]) => problems.includes('edit-conflict'));
  const answers = new Map<OperationId, Answer>();
  beforeAll(async () => {
    const { db, close } = await openDatabaseOf(service);
    const setRevisions = (from: unknown, to: unknown): Promise<unknown> =>
      Promise.all(
        [
          ...['prompts', 'locations', 'categories', 'products', 'orders', 'integrations'],
          ...['api_keys', 'budgets', 'model_prices', 'datasets', 'people'],
        ].map((name) => db.collection(name).updateMany({ revision: from }, { $set: { revision: to } })),
      );
    // So that restoring the first version changes something.
    const second = { messages: [{ role: 'user', content: 'A second version' }] };
    expect((await call('updatePrompt', { body: second })).status).toBe(200);
    await call('setPrice', { body: { rates: [{ input: '3', output: '4' }] } });
    await setAnotherGate();
    // Each edit reads this revision and then requires it. Nothing has it.
    await setRevisions({ $exists: true }, { $exists: false });
    try {
      // All at once, because each gives up only after five seconds.
      await Promise.all(editing.map(async ([operation]) => answers.set(operation, await call(operation))));
    } finally {
      await setRevisions({ $type: 'object' }, 1);
      await close();
    }
  });

  it.each(editing)('%s gives up when other callers always change it first', (operation) => {
    const answer = answers.get(operation);
    expect([answer?.status, problemIn(answer?.body)]).toEqual([409, problem('edit-conflict')]);
  });
});

describe('413', () => {
  it.each(withBody)('%s refuses a body that is too large', async (operation, { bodyLimit }) => {
    const { status, body } = await call(operation, { body: { name: 'x'.repeat(bodyLimit) } });
    expect([status, problemIn(body)]).toEqual([413, problem('content-too-large')]);
  });
});

describe.each(['text/plain', 'application/json; charset=iso-8859-1', 'application/x-www-form-urlencoded'])(
  '415 to %s',
  (mediaType) => {
    it.each(withBody)('%s', async (operation) => {
      const options = { body: '{}', headers: { 'Content-Type': mediaType }, differs: 'charset' };
      const { status, body } = await call(operation, options);
      expect([status, problemIn(body)]).toEqual([415, problem('unsupported-media-type')]);
    });
  },
);

describe('429', () => {
  let limited: TestService;
  beforeAll(async () => {
    limited = await startAnother(service, { RATE_LIMIT: '1/3600s' });
    expect((await call('listProviders', {}, limited)).status).toBe(200);
  });
  afterAll(() => limited.close());

  it.each(withKey)('%s refuses more requests than the limit allows', async (operation) => {
    const { status, body, headers } = await call(operation, {}, limited);
    expect([status, problemIn(body)]).toEqual([429, problem('rate-limited')]);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  });
});

/** The request pipeline without handlers, on a port of its own while a block of tests runs. */
function serveBareRouter(
  ...parameters: Parameters<typeof createBareRouter>
): (operation: OperationId, body?: unknown) => Promise<WireAnswer> {
  let server: Server;
  beforeAll(async () => {
    server = createServer(createBareRouter(...parameters));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return async (operation, body = calls[operation].body) => {
    const { method, path, headers: { 'Content-Type': mediaType = 'application/json' } = {} } = calls[operation];
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, {
      method,
      headers: { 'content-type': mediaType },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const headers = Object.fromEntries(response.headers);
    const answer = { status: response.status, headers, text: await response.text() };
    recordAnswer(operation, answer);
    expect(checkAnswer(operation, answer)).toEqual([]);
    return answer;
  };
}

describe.each([
  [429, 'too-much-in-progress', { perKey: 2, perProcess: 1_000 }, [bareKeyId, bareKeyId]],
  [503, 'overloaded', { perKey: Infinity, perProcess: 2 }, ['another', 'a third']],
])('%d %s', (expected, type, limits, holders) => {
  const memory = createMemoryBudget(limits);
  for (const holder of holders) memory.reserve(holder, 1);
  const done = (): Promise<never> => Promise.reject(new Error('there was memory'));
  const send = serveBareRouter(done, () => undefined, memory);

  it.each(withLargeBody)('%s refuses a large body when there is no memory for it', async (operation) => {
    const { status, headers, text } = await send(operation, { name: 'x'.repeat(20_000) });
    expect([status, problemIn(JSON.parse(text))]).toEqual([expected, problem(type)]);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  });
});

describe('500', () => {
  let exchanges: Exchange[];
  const fail = (): Promise<never> => Promise.reject(new Error('the password is hunter2'));
  const send = serveBareRouter(fail, (exchange) => exchanges.push(exchange));

  it.each(operations)('%s writes a fault to the log, and does not show it to the caller', async (operation) => {
    exchanges = [];
    const { status, headers, text } = await send(operation);
    expect([status, problemIn(JSON.parse(text))]).toEqual([500, problem('internal-error')]);
    expect(text).not.toContain('hunter2');
    expect(exchanges).toMatchObject([{ operationId: operation, requestId: headers['x-request-id'] }]);
    expect(String(exchanges[0]?.error)).toContain('hunter2');
  });
});

describe('304', () => {
  it.each(withParameter('If-None-Match').filter(([, { method }]) => method === 'GET'))(
    '%s sends no body to a caller that has the current version',
    async (operation) => {
      const { status, headers } = await call(operation);
      expect(status).toBe(200);
      const again = await call(operation, { headers: { 'If-None-Match': headers['etag'] ?? '' } });
      expect([again.status, again.text]).toEqual([304, '']);
    },
  );
});

describe('an Idempotency-Key', () => {
  let database: Database;
  /** createOrder is not among these: an order is stored together with its key. */
  const keepingAnswers = operations.filter(([, { problems }]) => problems.includes('idempotency-key-in-use'));
  beforeAll(async () => {
    database = await openDatabaseOf(service);
  });
  afterAll(() => database.close());

  /** A key belongs to an operation and a path. So without a body, all requests with the same key are the same. */
  const comparingBodies = keepingAnswers.filter(([, { body }]) => body !== 'none');
  it.each(comparingBodies)('of %s is refused with 422 after another request', async (operation) => {
    const headers = { 'Idempotency-Key': 'reused' };
    await setAnotherGate();
    expect((await call(operation, { headers })).status).toBeLessThan(300);
    const keys = database.db.collection('idempotency_keys');
    await keys.updateMany({}, { $set: { fingerprint: 'of another request' } });
    const { status, body } = await call(operation, { headers });
    expect([status, problemIn(body)]).toEqual([422, problem('idempotency-key-reused')]);
  });

  describe('of a request that runs', () => {
    const answers = new Map<OperationId, Answer>();
    beforeAll(async () => {
      const headers = { 'Idempotency-Key': 'running' };
      await setAnotherGate();
      for (const [operation] of keepingAnswers) {
        expect([operation, (await call(operation, { headers })).status < 300]).toEqual([operation, true]);
      }
      // These writes imitate another process that is alive and works on the requests.
      const keys = database.db.collection<{ beat: number }>('idempotency_keys');
      await keys.updateMany({}, { $unset: { answer: '' } });
      const beat = (): unknown => keys.updateMany({}, { $inc: { beat: 1 } }).catch(() => undefined);
      const beating = setInterval(beat, 50);
      // All at once, because each is refused only after a second.
      await Promise.all(
        keepingAnswers.map(async ([operation]) => answers.set(operation, await call(operation, { headers }))),
      );
      clearInterval(beating);
    });

    it.each(keepingAnswers)('%s refuses it with 409', (operation) => {
      const answer = answers.get(operation);
      expect([answer?.status, problemIn(answer?.body)]).toEqual([409, problem('idempotency-key-in-use')]);
    });
  });
});

describe('a successful call', () => {
  /** The scope depends on the model. */
  const neededFor: Partial<Record<OperationId, Scope>> = {
    getModel: 'prompts:invoke',
    createChatCompletion: 'prompts:invoke',
    createResponse: 'prompts:invoke',
    createMessage: 'prompts:invoke',
    countMessageTokens: 'providers:invoke',
  };
  it.each(operations)('of %s needs only its own scope', async (operation, { needsKey, scope }) => {
    await setAnotherGate();
    const own = (scope ?? neededFor[operation] ?? 'metrics:read') as Scope;
    // What shows cases of data sets needs the scope of these, too.
    const isOfCases = ['createEvaluation', 'exportEvaluationResults', 'setGate'].includes(operation);
    const key = isOfCases ? await service.createKey(own, 'datasets:read') : (having.get(own) ?? '');
    const { status } = await call(operation, { key: needsKey ? key : null });
    expect(status).toBeLessThan(300);
  });
});
