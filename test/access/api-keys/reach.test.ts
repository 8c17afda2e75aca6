/** The table of reach: what every operation does for every kind of caller, as `x-limited` of the contract says. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import document from '../../../generated/openapi.json' with { type: 'json' };
import { operationTable, type Limit, type OperationId, type OperationRow } from '../../../generated/operations.ts';
import { allScopes } from '../../../src/access/api-keys/feature.ts';
import type { OpenApiDocument } from '../../../src/codegen/contract-document.ts';
import { readProblems } from '../../../src/codegen/contract.ts';
import { renderOperationTable } from '../../../src/codegen/operation-table.ts';
import { setUpPeople, type Browser } from '../people/people-harness.ts';
import { callWith, cookieFor } from '../sessions/sessions-harness.ts';
import { callEveryOperation, environmentOfEveryOperation, type Call } from '../../support/every-operation.ts';
import { problemIn, problem } from '../../support/per-operation.ts';
import type { Answer, TestService } from '../../support/service.ts';

const operations = (Object.entries(operationTable) as [OperationId, OperationRow][]).filter(
  ([, { needsKey }]) => needsKey,
);
/** All but the one that ends the session that asks. */
const asked = operations.filter(([operation]) => operation !== 'deleteSession');
const limits: readonly Limit[] = ['prompts', 'locations', 'models'];
/** Each names something that exists, and that no call is about. */
const elsewhere: Partial<Record<Limit, readonly string[]>> = {};

const people = setUpPeople(environmentOfEveryOperation);

let service: TestService;
/** Of an administrator. */
let browser: Browser;
let calls: Record<OperationId, Call>;
const keys = new Map<string, string>();
/** Made by a person. */
const keysOfPerson = new Map<string, string>();
const cookies = new Map<string, string>();

beforeAll(async () => {
  ({ service } = people);
  calls = await callEveryOperation(service);
  ({ browser } = await people.signInAs('ada', 'admins'));
  const messages = [{ role: 'user', content: 'Another' }];
  const prompt = await service.call('POST', '/api/v1/prompts', { body: { name: 'Elsewhere', messages } });
  const place = { name: 'Elsewhere', currency: 'EUR', time_zone: 'UTC' };
  const location = await service.call('POST', '/v1/locations', { body: place });
  elsewhere.prompts = [String(prompt.body.id)];
  elsewhere.locations = [String(location.body.id)];
  elsewhere.models = ['openai/*'];
  for (const limit of limits) {
    const body = { name: limit, scopes: allScopes, limits: { [limit]: elsewhere[limit] } };
    const key = String((await service.call('POST', '/api/v1/api-keys', { body })).body.key);
    keys.set(limit, key);
    keysOfPerson.set(limit, String((await browser.call('POST', '/api/v1/api-keys', { body })).body.key));
    cookies.set(limit, await cookieFor(service, key));
  }
});

type Caller = { key: string } | { cookie: string } | { browser: Browser };

function ask(operation: OperationId, as: Caller): Promise<Answer> {
  const { method, path, ...call } = calls[operation];
  if ('key' in as) return service.call(method, path, { ...call, key: as.key });
  if ('browser' in as) return as.browser.call(method, path, call);
  return callWith(service, as.cookie, method, path, call);
}

describe.each(limits)('a key of some %s', (limit) => {
  const closed = asked.filter(([, { limited }]) => typeof limited[limit] === 'object');
  it.each(closed.map(([operation]) => operation))(
    '%s is closed, also for a session, and for a key of a person',
    async (operation) => {
      const rule = (operationTable[operation] as OperationRow).limited[limit];
      const found: unknown[] = [];
      const ofPerson = { key: keysOfPerson.get(limit) ?? '' };
      for (const as of [{ key: keys.get(limit) ?? '' }, { cookie: cookies.get(limit) ?? '' }, ofPerson]) {
        const { status, body } = await ask(operation, as);
        found.push('cannot' in (rule as object) ? [status, problemIn(body)] : status >= 404);
      }
      const expected = 'cannot' in (rule as object) ? [403, problem('beyond-limits')] : true;
      expect(found).toEqual([expected, expected, expected]);
    },
  );
});

/** The contract, with another `x-limited` of createPrompt. */
function contractWith(words: object | undefined): OpenApiDocument {
  const copy = structuredClone(document) as unknown as OpenApiDocument;
  Object.assign(copy.paths['/api/v1/prompts']?.post ?? {}, { 'x-limited': words });
  return copy;
}

it('fails generation for an operation that does not say a word for each limit', async () => {
  const problems = await readProblems('.');
  const all = { prompts: { cannot: 'create others' }, locations: 'unaffected', models: 'unaffected' };
  expect(renderOperationTable(contractWith(all), problems)).toContain('createPrompt');
  for (const limit of limits) {
    const words = { ...all, [limit]: undefined };
    expect(() => renderOperationTable(contractWith(words), problems)).toThrow(`createPrompt: x-limited does not say`);
  }
  expect(() => renderOperationTable(contractWith(undefined), problems)).toThrow('createPrompt: x-limited does not say');
  const named = { ...all, prompts: 'named' };
  expect(() => renderOperationTable(contractWith(named), problems)).toThrow('names something, and it does not');
  const typo = { ...all, models: 'unaffcted' };
  expect(() => renderOperationTable(contractWith(typo), problems)).toThrow('unknown word for models');
});

it('fails generation for a list without a default limit that does not say so, and for one that says so with one', async () => {
  const problems = await readProblems('.');
  const word = 'x-whole-without-limit';
  const copy = structuredClone(document) as unknown as OpenApiDocument;
  Object.assign(copy.paths['/api/v1/prompts']?.get ?? {}, { [word]: undefined });
  expect(() => renderOperationTable(copy, problems)).toThrow(`listPrompts: limit needs a default`);
  Object.assign(copy.paths['/api/v1/prompts']?.get ?? {}, { [word]: true });
  Object.assign(copy.paths['/api/v1/datasets']?.get ?? {}, { [word]: true });
  expect(() => renderOperationTable(copy, problems)).toThrow('listDatasets: limit needs a default');
});

/** What must be closed to a key of some prompts, whatever the contract says of it. */
it.each([
  'getMetrics',
  'getStatistics',
  'getAttention',
  'listApiKeys',
  'getApiKey',
  'listPeople',
  'getPerson',
  'updatePerson',
  'signOutPerson',
  'revokePersonKeys',
  'listBudgets',
  'getBudget',
  'listDatasets',
  'listAuditLog',
] as const)('%s is closed to keys of some prompts', async (operation) => {
  const { status, body } = await ask(operation, { key: keys.get('prompts') ?? '' });
  expect([status, problemIn(body)]).toEqual([403, problem('beyond-limits')]);
});

describe.each(limits)('what is kept to some %s', (limit) => {
  const foreign = {
    prompts: () => calls.getPrompt.path.split('/').at(-1),
    locations: () => calls.getLocation.path.split('/').at(-1),
    models: () => 'echo/echo-1',
  }[limit];
  const kept = asked.filter(([, { limited }]) => limited[limit] === 'kept');
  it.each(kept.map(([operation]) => operation))('%s shows nothing of others', async (operation) => {
    const { status, text } = await ask(operation, { key: keys.get(limit) ?? '' });
    const id = foreign();
    expect(id).toBeTruthy();
    if (status < 300) expect(text).not.toContain(id);
    else expect([403, 404, 422]).toContain(status);
  });
});

/** Reading, which changes nothing that another call needs. */
it.each(asked.filter(([, { method }]) => method === 'GET').map(([operation]) => operation))(
  '%s is open to an unlimited key, to its session and to a person',
  async (operation) => {
    const session = await cookieFor(service, service.adminKey);
    for (const as of [{ key: service.adminKey }, { cookie: session }, { browser }]) {
      expect((await ask(operation, as)).status).toBeLessThan(300);
    }
  },
);
