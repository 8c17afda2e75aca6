import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pLimit from 'p-limit';
import stringify from 'safe-stable-stringify';
import { connectDatabase } from '../../src/db/client.ts';
import type { WireAnswer } from '../support/contract-check.ts';
import { testDatabaseUri } from '../support/database.ts';
import { findOperation } from '../support/find-operation.ts';
import { calls, createTraffic, findFaults, type Call, type Traffic } from '../support/generated-traffic.ts';
import { silentLog } from '../support/log.ts';
import { findStrangeDocuments } from '../support/raw-documents.ts';
import { startTestService, type TestService } from '../support/service.ts';

/**
 * Ten thousand generated requests over HTTP against the real service on a real database: right, borderline, broken and
 * hostile ones, with and without keys. `FC_SEED` repeats a run (but for ids), `FC_RUNS` sets its length.
 */
const seed = Number(process.env['FC_SEED'] ?? 20_260_101);
const numRuns = Number(process.env['FC_RUNS'] ?? 10_000);
const connections = 16;
const slugs = ['alpha', 'beta', 'gamma', 'delta'];

type Json = Record<string, unknown>;

let service: TestService;
let traffic: Traffic;
/** The bodies that writes were answered with, as canonical JSON by entity tag. */
const written = new Map<string, string>();
const faults: string[] = [];
const statuses = new Map<number, number>();

beforeAll(async () => {
  service = await startTestService();
  const keys = {
    administrator: service.adminKey,
    reader: await service.createKey('prompts:read'),
    invoker: await service.createKey('prompts:invoke'),
  };
  traffic = createTraffic(service.url, keys, connections);
  const hints = await makeSomething();
  const callers = [...Object.keys(keys), 'unknown-key', '{"$ne":null}'];
  const generated = fc.sample(calls(callers, { slipOneIn: 30, hints }), { seed, numRuns });
  const limit = pLimit(connections);
  await Promise.all(generated.map((call, index) => limit(() => perform(call, index))));
}, 300_000);
afterAll(async () => {
  await traffic.close();
  await service.close();
});

/** Prompts and test runs for the requests to meet; their names go to the generators. */
async function makeSomething(): Promise<Record<string, unknown[]>> {
  await makePrompts();
  const runs: unknown[] = [];
  for (const slug of slugs) {
    const body = JSON.stringify({ providers: [{ provider: 'echo' }] });
    runs.push((await post(`/api/v1/prompts/${slug}/test`, body))['id']);
  }
  const key = await post('/api/v1/api-keys', '{"name":"x","scopes":["prompts:read"]}');
  return {
    ...{ slugOrId: slugs, slug: slugs, id: [...runs, key['id']], version: [1, 2, 3] },
    ...{ provider: ['echo', 'openai'], selected_provider: ['echo'], model: ['echo-1'], selected_model: ['echo-upper'] },
    ...{ 'Idempotency-Key': ['once', '"once"', 'twice'], 'If-Match': ['*'], Prefer: ['respond-async'], limit: [3] },
    'Cache-Control': ['max-age=60', 'no-store', 'only-if-cached'],
  };
}

/** Makes those of the known prompts that are not there. */
async function makePrompts(): Promise<void> {
  for (const slug of slugs) {
    const messages = [{ role: 'user', content: 'Hi {{name|you}}' }];
    await post('/api/v1/prompts', JSON.stringify({ name: slug, slug, messages, selected_provider: 'echo' }));
  }
}

async function post(url: string, body: string): Promise<Json> {
  const headers = { 'content-type': 'application/json' };
  const request = { operationId: 'createPrompt', method: 'POST', url, headers, body } as const;
  const answer = await perform({ request, caller: 'administrator' }, -1);
  return JSON.parse(answer?.text ?? '{}') as Json;
}

async function perform(call: Call, index: number): Promise<WireAnswer | undefined> {
  try {
    const answer = await traffic.send(call);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const found = [...findFaults(call, answer), ...compare(call, answer)];
    // The other requests need prompts to meet.
    if (call.request.method === 'DELETE' && answer.status === 200) await makePrompts();
    if (found.length > 0) report(call, index, `${found.join('; ')}\n${answer.text.slice(0, 500)}`);
    return answer;
  } catch (error) {
    report(call, index, String(error));
    return undefined;
  }
}

function report({ request, caller }: Call, index: number, fault: string): void {
  faults.push(
    `FC_SEED=${seed}, request ${index} by ${caller ?? 'nobody'}: ${JSON.stringify(request).slice(0, 1_000)}\n${fault}`,
  );
}

/** Keeps the answers to writes, and compares them with what was sent. */
function compare({ request: { method, url, body } }: Call, { status, headers, text }: WireAnswer): string[] {
  const operationId = findOperation(method, url);
  if (status >= 300 || operationId === undefined) return [];
  if (!['createPrompt', 'updatePrompt', 'restorePromptVersion'].includes(operationId)) return [];
  const answer = JSON.parse(text) as Json;
  written.set(headers['etag'] ?? '', canonical(answer));
  if (operationId === 'restorePromptVersion' || headers['idempotency-replayed'] !== undefined) return [];
  const sent = JSON.parse(body ?? '') as Json;
  const own = ['id', 'version', 'created_at', 'updated_at'];
  return Object.keys(sent)
    .filter((name) => !own.includes(name))
    .filter((name) => canonical(answer[name] ?? null) !== canonical(sent[name]))
    .map((name) => `${name} is not what was sent`);
}

function canonical(value: unknown): string {
  return stringify(value) ?? '';
}

/** Reads through the API, and has the answer checked like any other. */
async function read(url: string): Promise<WireAnswer> {
  const request = { operationId: 'getPrompt', method: 'GET', url, headers: {}, body: undefined } as const;
  const call: Call = { request, caller: 'administrator' };
  const answer = await traffic.send(call);
  expect(findFaults(call, answer)).toEqual([]);
  return answer;
}

/** All entries of a list, page by page. */
async function readAll(path: string): Promise<Json[]> {
  const entries: Json[] = [];
  for (;;) {
    const { text } = await read(`${path}?limit=100&offset=${entries.length}`);
    const { data, pagination } = JSON.parse(text) as { data: Json[]; pagination: { total: number } };
    entries.push(...data);
    if (entries.length >= pagination.total || data.length === 0) return entries;
  }
}

describe('after ten thousand generated requests', () => {
  it('there was no 5xx and no answer outside of the contract', () => {
    expect(faults.slice(0, 10)).toEqual([]);
  });

  it('all kinds of answers were given', () => {
    expect([...statuses.keys()]).toEqual(
      expect.arrayContaining([200, 201, 204, 400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 502]),
    );
  });

  it('every prompt reads as the last write to it was answered', async () => {
    const prompts = await readAll('/api/v1/prompts');
    expect(prompts.length).toBeGreaterThan(numRuns / 100);
    const differing: string[] = [];
    for (const { id } of prompts) {
      const { headers, text } = await read(`/api/v1/prompts/${String(id)}`);
      if (written.get(headers['etag'] ?? '') !== canonical(JSON.parse(text))) differing.push(text);
    }
    expect(differing).toEqual([]);
  }, 120_000);

  it('every version is one that a write was answered with', async () => {
    const contents = new Set([...written.values()].map((text) => contentOf(JSON.parse(text) as Json)));
    for (const { id, version } of await readAll('/api/v1/prompts')) {
      if (version === 1) continue;
      const versions = await readAll(`/api/v1/prompts/${String(id)}/versions`);
      expect(versions.map((entry) => entry['version'])).toEqual(
        Array.from({ length: Number(version) }, (_, index) => Number(version) - index),
      );
      expect(versions.filter((entry) => !contents.has(contentOf({ ...entry, id })))).toEqual([]);
    }
  }, 120_000);

  it('every test run and API key can be read', async () => {
    for (const { id } of await readAll('/api/v1/prompts')) {
      for (const run of await readAll(`/api/v1/prompts/${String(id)}/test-runs`)) {
        await read(`/api/v1/test-runs/${String(run['id'])}/results`);
      }
    }
    expect((await readAll('/api/v1/api-keys')).length).toBeGreaterThan(10);
  }, 120_000);

  it('the database holds nothing that it should not', async () => {
    const database = await connectDatabase({
      ...{ uri: testDatabaseUri(), log: silentLog },
      databaseName: service.environment['MONGODB_DATABASE'] ?? '',
    });
    try {
      expect(await findStrangeDocuments(database)).toEqual([]);
    } finally {
      await database.close();
    }
  }, 60_000);

  it('no prototype was changed', () => {
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Json)['polluted']).toBeUndefined();
  });
});

/** What a version keeps of a prompt. */
function contentOf({ id, version, messages, variables, selected_provider, selected_model }: Json): string {
  return canonical({ id, version, messages, variables, selected_provider, selected_model });
}
