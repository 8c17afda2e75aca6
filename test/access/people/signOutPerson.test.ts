import { describe, expect, it } from '@jest/globals';
import { createMovableClock } from '../../support/clock.ts';
import { setUpPeople } from './people-harness.ts';

const clock = createMovableClock();
const setup = setUpPeople({}, { clock });

describe('200', () => {
  it('ends all sessions of the person, who can sign in again, and of nobody else', async () => {
    setup.issuer.account = { sub: 'other', name: 'Other', groups: ['devs'] };
    const { browser: other } = await setup.signIn();
    setup.issuer.account = { sub: 'ada', name: 'Ada', groups: ['devs'] };
    const first = (await setup.signIn()).browser;
    const browsers = [first, (await setup.signIn()).browser];
    const { body } = await first.call('GET', '/api/v1/whoami');
    const path = `/api/v1/people/${String(body.id)}/sign-out`;
    expect((await setup.service.call('POST', path)).body).toMatchObject({ id: body.id, disabled: false });
    for (const browser of browsers) expect((await browser.call('GET', '/api/v1/whoami')).status).toBe(401);
    expect((await other.call('GET', '/api/v1/whoami')).status).toBe(200);
    const { browser } = await setup.signIn();
    expect((await browser.call('GET', '/api/v1/whoami')).status).toBe(200);
  });
});
