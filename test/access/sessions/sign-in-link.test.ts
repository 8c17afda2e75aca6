import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '../../../src/storage/db/client.ts';
import { createMovableClock } from '../../support/clock.ts';
import { openDatabaseOf, problem, startAnother } from '../../support/per-operation.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { callWith, cookieOf, signIn } from './sessions-harness.ts';

const clock = createMovableClock();
/** Without a key in the configuration, the first start creates one. */
const environment = { ADMIN_API_KEY: '' };
const started: TestService[] = [];

interface Start {
  readonly service: TestService;
  readonly lines: readonly string[];
  readonly token: string | undefined;
  readonly link: string | undefined;
}

/** @param before the service whose database it uses; without one, this is a first start */
async function start(before?: TestService): Promise<Start> {
  const lines: string[] = [];
  const options = { clock, print: (line: string): number => lines.push(line) };
  const service = await (before === undefined
    ? startTestService({ ...options, environment })
    : startAnother(before, environment, options));
  started.push(service);
  const link = /\S+#sign-in=\S+/.exec(lines.join('\n'))?.[0];
  return { service, lines, link, token: link?.split('#sign-in=')[1] };
}

let first: Start;
let second: Start;
let database: Database;
beforeAll(async () => {
  first = await start();
  second = await start(first.service);
  database = await openDatabaseOf(first.service);
});
afterAll(async () => {
  await database.close();
  await Promise.all(started.map((service) => service.close()));
});

describe('the sign-in link', () => {
  it('is printed at the first start, and not again', () => {
    expect(first.link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/dashboard#sign-in=[\w-]{43}$/);
    expect(second.lines.join('\n')).not.toMatch(/sign-in|Sign in|pgw_/);
  });

  it('is stored as a hash', async () => {
    const text = JSON.stringify(await database.db.collection('sign_in_links').find().toArray());
    const hash = createHash('sha256').update(String(first.token)).digest('hex');
    expect(text).toContain(hash);
    expect(text).not.toContain(first.token);
  });

  it('signs the administrator in once, however many requests use it in however many processes', async () => {
    const body = { sign_in_token: first.token };
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => signIn((index % 2 === 0 ? first : second).service, body)),
    );
    const won = answers.filter(({ status }) => status === 201);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(401)]);
    expect(won[0]?.body.api_key).toMatchObject({ id: '00000000-0000-4000-8000-000000000001', administrator: true });
    const cookie = won[0] === undefined ? '' : cookieOf(won[0]);
    for (const { service } of [first, second]) expect((await callWith(service, cookie)).status).toBe(200);
    const later = await signIn(second.service, body);
    expect([later.status, later.body.type]).toEqual([401, problem('unauthenticated')]);
  });

  it('works for ten minutes, also if the process restarts', async () => {
    const inTime = await start();
    const tooLate = await start();
    const restarted = await Promise.all([inTime, tooLate].map(({ service }) => start(service)));
    clock.advance(10 * 60_000 - 5_000);
    expect((await signIn(restarted[0]?.service ?? inTime.service, { sign_in_token: inTime.token })).status).toBe(201);
    clock.advance(5_000);
    for (const { service } of [tooLate, ...restarted.slice(1)]) {
      expect((await signIn(service, { sign_in_token: tooLate.token })).status).toBe(401);
    }
  });

  it('does not sign in with a key that was revoked', async () => {
    const { service, lines, token } = await start();
    const key = /pgw_\S+/.exec(lines.join('\n'))?.[0] ?? '';
    const revoke = '/api/v1/api-keys/00000000-0000-4000-8000-000000000001/revoke';
    expect((await service.call('POST', revoke, { key })).status).toBe(200);
    expect((await signIn(service, { sign_in_token: token })).status).toBe(401);
  });
});
