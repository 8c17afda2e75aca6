/** What the audit log says of sign-ins that were refused after the issuer had confirmed who it is. */
import { describe, expect, it } from '@jest/globals';
import type { components } from '../../../generated/types.ts';
import { createMovableClock } from '../../support/clock.ts';
import { setUpPeople } from './people-harness.ts';

type Record_ = components['schemas']['AuditRecord'];

const clock = createMovableClock();
const setup = setUpPeople({ REFUSED_KEYS_LIMIT: 'off' }, { clock });
const recordsOf = async (query: string): Promise<Record_[]> =>
  (await setup.service.call('GET', `/api/v1/audit-log?limit=100&${query}`)).body.data as Record_[];
const refusalsOf = (query = ''): Promise<Record_[]> => recordsOf(`operation=refuseSignIn&${query}`);

/** Signs in, and is refused. @param claims of the account besides its subject */
async function refuse(sub: string, claims: object): Promise<void> {
  setup.issuer.account = { sub, name: `Name of ${sub}`, ...claims };
  expect((await setup.signIn()).visited.status).toBe(403);
}

/** Signs in. @returns the id of the person */
async function admit(sub: string): Promise<string> {
  setup.issuer.account = { sub, name: `Name of ${sub}`, groups: ['devs'] };
  const { browser } = await setup.signIn();
  return String((await browser.call('GET', '/api/v1/whoami')).body.id);
}

describe('a refused sign-in', () => {
  it('of a person is recorded under its name, with the reason', async () => {
    const id = await admit('leaver');
    await setup.service.call('PUT', `/api/v1/people/${id}`, { body: { disabled: true } });
    await refuse('leaver', { groups: ['devs'] });
    const [record, ...others] = await refusalsOf(`author_id=${id}`);
    expect([record, others]).toEqual([
      expect.objectContaining({
        author: { type: 'person', id, name: 'Name of leaver' },
        resource_type: 'person',
        resource_id: id,
        after: { refused: 'disabled', subject: 'leaver' },
        address: expect.stringContaining('127.0.0.1'),
      }),
      [],
    ]);
  });

  it.each([
    ['no-role', { groups: ['guests'] }],
    ['too-many-groups', { hasgroups: true }],
    ['groups-not-understood', { groups: { devs: true } }],
  ])('of somebody who has never signed in is recorded under the issuer: %s', async (refused, claims) => {
    await refuse(`stranger-${refused}`, claims);
    const [record] = await refusalsOf();
    expect(record).toMatchObject({
      author: { type: 'system', id: 'oidc', name: 'Example Corp' },
      resource_type: 'person',
      resource_name: `Name of stranger-${refused}`,
      after: { refused, subject: `stranger-${refused}` },
    });
    expect((await setup.service.call('GET', `/api/v1/people/${record?.resource_id}`)).status).toBe(404);
  });

  it('that takes the roles away is recorded with what it took', async () => {
    const id = await admit('moved');
    await refuse('moved', { groups: ['guests'] });
    const found = await refusalsOf(`resource_id=${id}`);
    expect(found).toHaveLength(2);
    expect(found).toContainEqual(
      expect.objectContaining({
        author: expect.objectContaining({ type: 'person', id }),
        after: { refused: 'no-role', subject: 'moved' },
      }),
    );
    expect(found).toContainEqual(
      expect.objectContaining({
        author: expect.objectContaining({ type: 'system', id: 'oidc' }),
        before: { roles: ['editor'] },
        after: { roles: [] },
      }),
    );
  });

  it('is recorded once an hour for each person and reason', async () => {
    const id = await admit('stubborn');
    for (let sent = 0; sent < 3; sent += 1) await refuse('stubborn', { groups: ['guests'] });
    await refuse('stubborn', { hasgroups: true });
    const reasons = async (): Promise<unknown[]> =>
      (await refusalsOf(`author_id=${id}`)).map(({ after }) => after?.['refused']);
    expect(await reasons()).toEqual(['too-many-groups', 'no-role']);
    clock.advance(3_600_000);
    // The clock of the issuer goes with that of the service.
    setup.issuer.tamper = (_path, { headers }) =>
      Promise.resolve({ headers: { ...headers, date: clock.now().toUTCString() } });
    await refuse('stubborn', { groups: ['guests'] });
    clock.advance(-3_600_000);
    expect(await reasons()).toEqual(['no-role', 'too-many-groups', 'no-role']);
  });

  it('of many people who have never signed in is recorded at most 100 times an hour', async () => {
    const before = (await refusalsOf('author_id=oidc')).length;
    for (let count = 0; count < 130; count += 1) await refuse(`crowd-${count}`, { groups: ['guests'] });
    const { body } = await setup.service.call(
      'GET',
      '/api/v1/audit-log?operation=refuseSignIn&author_id=oidc&limit=100',
    );
    const recorded = (body.pagination.total as number) - before;
    expect(recorded).toBeGreaterThan(40);
    expect(recorded).toBeLessThanOrEqual(100);
  });

  it('is not recorded before the issuer has confirmed who it is', async () => {
    const before = await recordsOf('resource_type=person');
    const browser = setup.browser();
    const { url } = await browser.open(`${setup.service.url}/oidc/sign-in`, /\/oidc\/callback/);
    expect((await setup.browser().open(url)).status).toBe(400);
    const forged = new URL(url);
    forged.searchParams.set('code', 'forged');
    expect((await browser.open(forged.href)).status).toBe(400);
    expect(await recordsOf('resource_type=person')).toEqual(before);
  });
});

it('a session that a sign-in replaces is recorded as signed out, not as another sign-in', async () => {
  const id = await admit('again');
  const { browser } = await setup.signIn();
  const first = (await recordsOf(`author_id=${id}&resource_type=session`))[0]?.resource_id;
  await setup.signIn(browser);
  const all = await recordsOf(`author_id=${id}&resource_type=session`);
  const ended = all.filter(({ operation }) => operation === 'deleteSession');
  expect(ended.map(({ resource_id: session }) => session)).toEqual([first]);
  const ofRequest = all.filter(({ request_id: request }) => request === ended[0]?.request_id);
  expect(ofRequest.map(({ operation }) => operation).toSorted()).toEqual(['deleteSession', 'finishSignIn']);
});
