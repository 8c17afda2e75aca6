import { describe, expect, it } from '@jest/globals';
import { createMovableClock } from '../../support/clock.ts';
import { setUpPeople, type Browser } from './people-harness.ts';

const clock = createMovableClock();
const setup = setUpPeople({}, { clock });

const { signInAs } = setup;
const statusOf = async (key: string): Promise<number> =>
  (await setup.service.call('GET', '/api/v1/whoami', { key })).status;
/** A key that a person creates, and one that this key creates. */
const makeKeys = async (browser: Browser): Promise<string[]> => {
  const body = { name: 'made', scopes: ['keys:manage'] };
  const { body: first } = await browser.call('POST', '/api/v1/api-keys', { body });
  const { body: second } = await setup.service.call('POST', '/api/v1/api-keys', { body, key: String(first.key) });
  return [String(first.key), String(second.key)];
};

describe('200', () => {
  it('revokes all keys of the person in one step, and those that they led to, and no others', async () => {
    const { browser, id } = await signInAs('leaving', 'ops');
    const { browser: other } = await signInAs('staying', 'ops');
    const [mine, theirs] = [await makeKeys(browser), await makeKeys(other)];
    const listed = await setup.service.call('GET', `/api/v1/api-keys?author_id=${id}`);
    expect(listed.body.data).toMatchObject([{ author: { type: 'person', id, name: 'leaving' }, status: 'active' }]);
    const path = `/api/v1/people/${id}/revoke-keys`;
    expect((await setup.service.call('POST', path)).body).toEqual({ revoked: 2 });
    expect((await setup.service.call('POST', path)).body).toEqual({ revoked: 0 });
    for (const key of mine) expect(await statusOf(key)).toBe(401);
    for (const key of theirs) expect(await statusOf(key)).toBe(200);
    const { body } = await setup.service.call('GET', '/api/v1/audit-log?operation=revokePersonKeys');
    expect(body.data).toHaveLength(2);
  });
});
