import { describe, expect, it } from '@jest/globals';
import { setUp } from '../../support/per-operation.ts';
import { insertPerson } from '../../support/person.ts';

const setup = setUp();

describe('200', () => {
  it('lists all people, also those who are disabled, the newest first', async () => {
    const id = (digit: number): string => `00000000-0000-8000-8000-00000000000${digit}`;
    for (const digit of [1, 2, 3]) {
      const firstSignInAt = new Date(Date.now() - 60_000 * (10 - digit));
      await insertPerson(setup.service, { id: id(digit), subject: `s${digit}`, firstSignInAt, disabled: digit === 2 });
    }
    const { body } = await setup.service.call('GET', '/api/v1/people');
    expect(body.data).toMatchObject([{ id: id(3) }, { id: id(2), disabled: true }, { id: id(1) }]);
  });
});
