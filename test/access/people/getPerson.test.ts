import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Person } from '../../../src/access/people/person.ts';
import { problem, setUp } from '../../support/per-operation.ts';
import { insertPerson } from '../../support/person.ts';

const setup = setUp();
let ada: Person;
beforeAll(async () => {
  ada = await insertPerson(setup.service, { email: 'ada@example.com', roles: ['editor', 'releaser'] });
});

describe('200', () => {
  it('shows who the person is, and not the epoch of its sessions', async () => {
    const { body } = await setup.service.call('GET', `/api/v1/people/${ada.id}`);
    expect(body).toEqual({
      ...{ id: ada.id, issuer: 'https://login.example.com', subject: 'ada', name: 'Ada', email: 'ada@example.com' },
      ...{ roles: ['editor', 'releaser'], disabled: false },
      ...{ first_sign_in_at: ada.firstSignInAt.toISOString(), last_sign_in_at: ada.lastSignInAt.toISOString() },
    });
  });
});

describe('404', () => {
  it('is the answer to an unknown id', async () => {
    const { status, body } = await setup.service.call('GET', '/api/v1/people/00000000-0000-8000-8000-00000000dead');
    expect([status, body.type]).toEqual([404, problem('person-not-found')]);
  });
});
