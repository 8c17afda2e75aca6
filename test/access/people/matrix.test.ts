/** What each role may do, by the scopes of the contract, with a key and with a cookie, from pages of both kinds. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { operationTable, type OperationId, type OperationRow, type Scope } from '../../../generated/operations.ts';
import { allScopes } from '../../../src/access/api-keys/feature.ts';
import { roleNames, type Role } from '../../../src/access/people/roles.ts';
import { callEveryOperation, environmentOfEveryOperation, type Call } from '../../support/every-operation.ts';
import { problem, problemIn } from '../../support/per-operation.ts';
import type { Answer, CallOptions } from '../../support/service.ts';
import { callWith, cookieFor } from '../sessions/sessions-harness.ts';
import { setUpPeople, type Browser } from './people-harness.ts';

const operations = Object.entries(operationTable) as [OperationId, OperationRow][];

/** Each role is that of the group with its name. */
const groups = JSON.stringify(Object.fromEntries(roleNames.map((role) => [role, role])));
const setup = setUpPeople({ ...environmentOfEveryOperation, OIDC_ROLES: groups });

/** A person with a role, and a key with the same scopes. */
interface Holder {
  readonly scopes: ReadonlySet<Scope>;
  readonly key: string;
  readonly browser: Browser;
}

let holders: Readonly<Record<Role, Holder>>;
let calls: Readonly<Record<OperationId, Call>>;
beforeAll(async () => {
  calls = await callEveryOperation(setup.service);
  const { path } = calls.updatePrompt;
  expect((await setup.service.call('PUT', path, { body: { aliases: ['pmpt_of_a_hosted_prompt'] } })).status).toBe(200);
  const { body } = await setup.service.call('GET', '/api/v1/roles');
  const entries: [Role, Holder][] = [];
  for (const { name, scopes } of body.data as { name: Role; scopes: Scope[] }[]) {
    const key = await setup.service.createKey(...scopes);
    entries.push([name, { scopes: new Set(scopes), key, browser: (await setup.signInAs(name, name)).browser }]);
  }
  holders = Object.fromEntries(entries) as Record<Role, Holder>;
});

const origins: Readonly<Record<'same' | 'other', Record<string, string>>> = {
  same: { 'sec-fetch-site': 'same-origin' },
  other: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
};

type Credential = 'key' | 'cookie';

function send(
  { key, browser }: Holder,
  credential: Credential,
  origin: keyof typeof origins,
  { method, path, headers, ...options }: CallOptions & Call,
): Promise<Answer> {
  const sent = { ...options, headers: { ...headers, ...origins[origin] } };
  return credential === 'key'
    ? setup.service.call(method, path, { ...sent, key })
    : browser.call(method, path, { ...sent, key: null });
}

/** What comes of a call whose parameters are refused, which is decided after key, scope and origin. */
function expected(row: OperationRow, { scopes }: Holder, credential: Credential, origin: string): [number, string] {
  if (row.needsKey && credential === 'cookie' && origin === 'other') return [401, problem('unauthenticated')];
  if (row.scope !== null && !scopes.has(row.scope as Scope)) return [403, problem('insufficient-scope')];
  return [400, problem('invalid-request')];
}

/** A key works wherever it is sent from, so of its two origins only the other one is tried. */
const ways = [
  ['key', 'other'],
  ['cookie', 'same'],
  ['cookie', 'other'],
] as const;
const combinations = roleNames.flatMap((role) => ways.map(([credential, origin]) => ({ role, credential, origin })));

describe('an operation', () => {
  it.each(operations)('%s lets in exactly whom the contract names', async (operation, row) => {
    const { path, ...call } = calls[operation];
    const found = combinations.map(async ({ role, credential, origin }) => {
      const answer = await send(holders[role], credential, origin, { ...call, path: `${path}?unknown=1` });
      return [role, credential, origin, answer.status, problemIn(answer.body)];
    });
    const wanted = combinations.map(({ role, credential, origin }) => [
      ...[role, credential, origin],
      ...expected(row, holders[role], credential, origin),
    ]);
    expect(await Promise.all(found)).toEqual(wanted);
  });

  /** Their scope follows from the model. */
  it.each(['getModel', 'createChatCompletion', 'createResponse', 'createMessage'] as const)(
    '%s asks a person for the scope of its model',
    async (operation) => {
      const found = roleNames.map(async (role) => {
        const { status } = await send(holders[role], 'cookie', 'same', calls[operation]);
        return [role, status];
      });
      const wanted = roleNames.map((role) => [role, holders[role].scopes.has('prompts:invoke') ? 200 : 403]);
      expect(await Promise.all(found)).toEqual(wanted);
    },
  );

  /** What asks for a second scope, that of the operation being granted. */
  const further: readonly [what: string, scope: Scope, call: () => Call][] = [
    ['a prompt with labels', 'prompts:release', () => ofImport({ labels: { production: 1 } })],
    ['cases of invocations', 'invocations:content', () => ({ ...calls.addDatasetCases, body: ofInvocation() })],
    ['an override of a gate', 'prompts:override', () => ofLabel({ version: 2, override: 'It is urgent' })],
    ['the slug of a prompt with gates', 'prompts:override', () => ({ ...calls.updatePrompt, body: { slug: 'taken' } })],
    ['its aliases', 'prompts:override', () => ({ ...calls.updatePrompt, body: { aliases: [] } })],
  ];
  const ofImport = (more: object): Call => {
    const { prompts } = calls.importPrompts.body as { prompts: object[] };
    return { ...calls.importPrompts, body: { prompts: [{ ...prompts[0], ...more }], conflicts: 'skip' } };
  };
  const ofInvocation = (): object => ({ from_invocations: [calls.getInvocation.path.split('/').at(-1)] });
  const ofLabel = (body: object): Call => ({
    ...{ method: 'PUT', body },
    path: calls.getGate.path.replace(/\/gate$/, ''),
  });
  it.each(further)('for %s asks a person for %s, too', async (_what, scope, call) => {
    const found: [Role, number, string | undefined][] = [];
    for (const role of roleNames) {
      const { status, body } = await send(holders[role], 'cookie', 'same', call());
      found.push([role, Math.floor(status / 100), problemIn(body)]);
    }
    const wanted = roleNames.map((role) =>
      holders[role].scopes.has(scope) && holders[role].scopes.has('prompts:write')
        ? [role, 2, undefined]
        : [role, 4, problem('insufficient-scope')],
    );
    expect(found).toEqual(wanted);
  });

  it.each(operations)('%s works for an administrator who is a person', async (operation) => {
    // These two replace or end the session of their browser.
    const isOfSessions = operation === 'createSession' || operation === 'deleteSession';
    const browser = isOfSessions
      ? (await setup.signInAs('administrator', 'administrator')).browser
      : holders.administrator.browser;
    const { status } = await send({ ...holders.administrator, browser }, 'cookie', 'same', calls[operation]);
    expect(status).toBeLessThan(300);
  });
});

describe('a sign-in with a key', () => {
  it.each(roleNames)('is refused to a page of another origin, also in the browser of a person (%s)', async (role) => {
    const { status, body } = await send(holders[role], 'cookie', 'other', calls.createSession);
    expect([status, problemIn(body)]).toEqual([403, problem('cross-origin')]);
  });
});

describe('what a person makes', () => {
  const make = (browser: Browser, scopes: readonly Scope[]): Promise<Answer> =>
    browser.call('POST', '/api/v1/api-keys', { body: { name: 'made', scopes } });

  it.each(roleNames)('is a key with no scope that the person lacks (%s)', async (role) => {
    const { scopes, browser } = holders[role];
    const found = allScopes.map(async (scope) => [scope, (await make(browser, [scope])).status]);
    const mayMake = scopes.has('keys:manage');
    const wanted = allScopes.map((scope) => [scope, mayMake && scopes.has(scope) ? 201 : 403]);
    expect(await Promise.all(found)).toEqual(wanted);
  });

  it('is no wider at the second step, nor in a session of the key', async () => {
    const { body: made } = await make(holders.operator.browser, ['keys:manage', 'budgets:read']);
    const key = String(made.key);
    for (const scope of allScopes) {
      const body = { name: 'further', scopes: [scope] };
      const { status } = await setup.service.call('POST', '/api/v1/api-keys', { key, body });
      expect([scope, status]).toEqual([scope, ['keys:manage', 'budgets:read'].includes(scope) ? 201 : 403]);
    }
    const { body } = await callWith(setup.service, await cookieFor(setup.service, key));
    expect([body.type, body.administrator]).toEqual(['key', false]);
    expect(body.scopes.toSorted()).toEqual(['budgets:read', 'keys:manage']);
  });

  it('is changed and revoked by its maker, and by no other person who is not an administrator', async () => {
    const { operator, administrator } = holders;
    const own = (await make(operator.browser, ['budgets:read'])).body;
    const foreign = (await make(administrator.browser, ['budgets:read'])).body;
    const act = async ({ browser }: Holder, id: unknown): Promise<unknown[]> => {
      const path = `/api/v1/api-keys/${String(id)}`;
      const changed = await browser.call('PUT', path, { body: { limits: { requests_per_minute: 60 } } });
      const revoked = await browser.call('POST', `${path}/revoke`);
      return [changed, revoked].map(({ status, body }) => problemIn(body) ?? status);
    };
    const noAuthority = problem('no-authority');
    expect(await act(operator, foreign.id)).toEqual([noAuthority, noAuthority]);
    expect(await act(operator, own.id)).toEqual([200, 200]);
    expect(await act(administrator, foreign.id)).toEqual([200, 200]);
  });
});
