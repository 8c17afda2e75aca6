import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createMemoryBudget } from '../../src/base/limits/memory-budget.ts';
import { ProblemError } from '../../src/base/errors/problem-error.ts';
import {
  createIdempotency,
  largestKeptBody,
  type Idempotency,
  type KeptAnswer,
} from '../../src/http/idempotency/idempotency.ts';
import { writeTermMs } from '../../src/http/idempotency/record-lease.ts';
import {
  createIdempotencyStore,
  idempotencyIndexes,
  type IdempotencyRecord,
  type IdempotencyStore,
} from '../../src/http/idempotency/idempotency-store.ts';
import { ensureIndexes, expiryIndex } from '../../src/storage/db/indexes.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from '../prompts/invoke/invoke-harness.ts';
import { createKeptBytes } from '../../src/base/limits/kept-bytes.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import type { Answer } from '../support/service.ts';
import { until } from '../support/until.ts';
import { systemClock } from '../../src/base/runtime/clock.ts';
import { system } from '../../src/base/runtime/system.ts';

describe('over HTTP', () => {
  let harness: InvokeHarness;
  beforeAll(async () => {
    harness = await startInvokeHarness();
  });
  afterEach(() => {
    harness.mock.reset();
  });
  afterAll(() => harness.close());

  const prompts = '/api/v1/prompts';
  const messages = [{ role: 'user', content: 'Hello' }];
  const post = (path: string, key: string, body?: unknown, apiKey?: string): Promise<Answer> =>
    harness.service.call('POST', path, {
      headers: { 'Idempotency-Key': key },
      ...(body === undefined ? {} : { body }),
      ...(apiKey === undefined ? {} : { key: apiKey }),
    });
  const isReplay = ({ headers }: Answer): boolean => headers['idempotency-replayed'] === 'true';

  it('treats a key in quotes and without quotes as the same key', async () => {
    const first = await post(prompts, 'spelt-twice', { name: 'Spelling', messages });
    const second = await post(prompts, '"spelt-twice"', { name: 'Spelling', messages });
    expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
    expect(second.text).toBe(first.text);
  });

  it.each(['"half', 'a b', '""', 'x'.repeat(256)])('refuses the key %p', async (key) => {
    const { status, body } = await post(prompts, key, { name: 'Refused', messages });
    expect(status).toBe(400);
    expect(body.errors[0].header).toBe('Idempotency-Key');
  });

  it('distinguishes the keys of API keys, operations and paths', async () => {
    const slug = await harness.createPrompt();
    const other = await harness.createPrompt();
    const apiKey = await harness.service.createKey('prompts:invoke');
    const answers = [
      await post(`${prompts}/${slug}/invoke`, 'apart', {}),
      await post(`${prompts}/${slug}/invoke`, 'apart', {}, apiKey),
      await post(`${prompts}/${other}/invoke`, 'apart', {}),
      await post(`${prompts}/${slug}/versions/1/restore`, 'apart'),
      await post(`${prompts}/${slug}/test`, 'apart', { providers: [{ provider: 'mock' }] }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 201]);
    expect(answers.some(isReplay)).toBe(false);
  });

  it('repeats the fields of the first answer', async () => {
    const slug = await harness.createPrompt();
    const requests: [string, unknown][] = [
      [prompts, { name: 'Fields', messages }],
      [`${prompts}/${slug}/invoke`, { version: 1 }],
      [`${prompts}/${slug}/versions/1/restore`, undefined],
      [`${prompts}/${slug}/test`, { providers: [{ provider: 'mock' }] }],
    ];
    for (const [path, body] of requests) {
      const fields = async (): Promise<Record<string, string>> => {
        const { headers } = await post(path, 'fields', body);
        const { date: _date, 'x-request-id': _id, ...rest } = headers;
        return rest;
      };
      const first = await fields();
      expect(await fields()).toEqual({ ...first, 'idempotency-replayed': 'true' });
    }
    expect(harness.mock.requests).toHaveLength(2);
  });

  it('refuses another body, but accepts the same body with its members in another order', async () => {
    await post(prompts, 'body', { name: 'Body', messages });
    const reused = await post(prompts, 'body', { name: 'Another', messages });
    expect([reused.status, problemOf(reused)]).toEqual([422, 'idempotency-key-reused']);
    expect(isReplay(await post(prompts, 'body', { messages, name: 'Body' }))).toBe(true);
  });

  it('answers 409 while the first request runs', async () => {
    const slug = await harness.createPrompt();
    const invoke = (): Promise<Answer> => post(`${prompts}/${slug}/invoke`, 'running', { model: 'mock-held' });
    const first = invoke();
    await harness.received(1);
    const second = await invoke();
    expect([second.status, problemOf(second)]).toEqual([409, 'idempotency-key-in-use']);
    expect(Number(second.headers['retry-after'])).toBeGreaterThan(0);
    harness.mock.release();
    expect((await first).status).toBe(200);
    expect(isReplay(await invoke())).toBe(true);
  });

  it('stores the answer for a caller that closed the connection', async () => {
    const slug = await harness.createPrompt();
    const body = { model: 'mock-held' };
    const leave = new AbortController();
    const left = harness.invokeUntil(leave.signal, slug, body, { 'Idempotency-Key': 'left' }).catch(() => undefined);
    const request = await harness.received(1);
    leave.abort();
    await left;
    harness.mock.release();
    await request.ended;
    const again = await until(
      () => post(`${prompts}/${slug}/invoke`, 'left', body),
      ({ status }) => status !== 409,
    );
    expect([again.status, isReplay(again)]).toEqual([200, true]);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('does not store failures', async () => {
    const slug = await harness.createPrompt();
    const invoke = (): Promise<Answer> => post(`${prompts}/${slug}/invoke`, 'failures', {});
    harness.mock.behave('model-a', { kind: 'status', status: 401 });
    expect((await invoke()).status).toBe(502);
    const answer = await invoke();
    expect([answer.status, isReplay(answer)]).toEqual([200, false]);
  });

  it('replays the largest answer of a provider without calling it again', async () => {
    const slug = await harness.createPrompt();
    const content = 'é\n'.repeat(1_000_000);
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    const body = JSON.stringify({ id: 'a', object: 'chat.completion', created: 1, model: 'large', choices });
    harness.mock.behave('large', { kind: 'body', contentType: 'application/json', body });
    const first = await post(`${prompts}/${slug}/invoke`, 'large', { model: 'large' });
    const replay = await post(`${prompts}/${slug}/invoke`, 'large', { model: 'large' });
    expect([first.status, isReplay(replay)]).toEqual([200, true]);
    expect(replay.text === first.text).toBe(true);
    expect(harness.mock.requests).toHaveLength(1);
  });
});

const unknown = new ProblemError('database-unavailable', { detail: 'away' });

const limits = {
  keptBytes: createKeptBytes({ perKey: Infinity, perProcess: Infinity, monotonic: () => 0 }),
  memory: createMemoryBudget({ perKey: Infinity, perProcess: Infinity }),
};

describe('the rules', () => {
  let database: TestDatabase;
  let store: IdempotencyStore;
  let time = 1_000;
  /** All processes have the same clock. It advances when one of them waits. */
  const timePasses = async (milliseconds: number): Promise<void> => {
    time += milliseconds;
    await sleep(1);
  };
  const startProcess = (
    pause: (milliseconds: number) => Promise<unknown> = timePasses,
    own: IdempotencyStore = store,
  ): Idempotency =>
    createIdempotency({
      ...system,
      store: own,
      ...limits,
      clock: { ...systemClock, monotonic: () => time },
      pause,
    });
  let idempotency: Idempotency;
  beforeAll(async () => {
    database = await createTestDatabase();
    await ensureIndexes(database.db, [idempotencyIndexes]);
    store = createIdempotencyStore(database);
    idempotency = startProcess();
  });
  afterAll(() => database.drop());

  const request = (key: string, body: unknown = {}, termMs = writeTermMs): Parameters<Idempotency['run']>[0] => ({
    scope: 'key operation path',
    family: 'a key',
    key,
    body,
    termMs,
  });
  const answer = (body: string): KeptAnswer => ({ status: 201, headers: { etag: '"a"' }, body });
  const saysItsId = (resourceId: string): Promise<KeptAnswer> => Promise.resolve(answer(resourceId));
  const never = (): Promise<KeptAnswer> => Promise.reject(new Error('must not be done'));
  const inUse = { type: 'idempotency-key-in-use' };
  /** An attempt in another process, which crashes during its work unless it is told to finish. */
  const crash = async (
    key: string,
    termMs?: number,
  ): Promise<{ resourceId: string; finish: (body: string) => Promise<unknown> }> => {
    const work = Promise.withResolvers<KeptAnswer>();
    const reserved = Promise.withResolvers<string>();
    const dying: IdempotencyStore = { ...store, beat: () => Promise.resolve() };
    const run = startProcess(undefined, dying).run(request(key, {}, termMs), (resourceId) => {
      reserved.resolve(resourceId);
      return work.promise;
    });
    return {
      resourceId: await reserved.promise,
      finish: (body) => {
        work.resolve(answer(body));
        return run;
      },
    };
  };
  const recordOf = async (resourceId: string): Promise<Record<string, unknown> | null> =>
    database.db.collection('idempotency_keys').findOne({ resource_id: resourceId });

  it('let the next attempt continue with the same id within 6 s when the first one has crashed', async () => {
    const { resourceId } = await crash('crash');
    const came = time;
    const taken = await idempotency.run(request('crash'), saysItsId);
    expect(taken).toEqual({ answer: answer(resourceId), replayed: false });
    expect(time - came).toBeGreaterThanOrEqual(writeTermMs);
    expect(time - came).toBeLessThan(6_000);
    expect(await idempotency.run(request('crash'), never)).toEqual({ answer: answer(resourceId), replayed: true });
  });

  it('do not repeat a paid call before its deadline, and answer when that is', async () => {
    await crash('paid', 70_000);
    const came = time;
    const refused = idempotency.run(request('paid', {}, 70_000), never);
    await expect(refused).rejects.toMatchObject({ ...inUse, headers: { 'retry-after': '64' } });
    expect(time - came).toBe(6_000);
    time = came + 69_000;
    const again = await idempotency.run(request('paid', {}, 70_000), saysItsId);
    expect([again.replayed, time - came]).toEqual([false, 70_000]);
  });

  it('wait for the work of another process, and replay its answer', async () => {
    const { finish } = await crash('elsewhere');
    const waiting = startProcess(() => finish('done there'));
    const second = await waiting.run(request('elsewhere'), never);
    expect(second).toEqual({ answer: answer('done there'), replayed: true });
  });

  it('answer immediately that the key is in use while its owner is alive', async () => {
    const { resourceId, finish } = await crash('alive');
    const keys = database.db.collection('idempotency_keys');
    const waiting = startProcess(() => keys.updateOne({ resource_id: resourceId }, { $inc: { beat: 1 } as never }));
    const came = time;
    await expect(waiting.run(request('alive'), never)).rejects.toMatchObject(inUse);
    expect(time).toBe(came);
    await finish('at last');
  });

  it('show that an owner is alive, and store the answer of work that takes longer than the term', async () => {
    const slow = createIdempotency({ ...system, store, ...limits });
    const done = slow.run(request('beating'), async (resourceId) => {
      await until(async () => Number((await recordOf(resourceId))?.['beat']) > 0);
      return answer('slow');
    });
    expect((await done).answer.body).toBe('slow');
  });

  it('let only one of many attempts continue', async () => {
    await crash('rush');
    let done = 0;
    const work = async (): Promise<KeptAnswer> => {
      done += 1;
      await sleep(100);
      return answer('once');
    };
    const other = startProcess();
    const attempts = Array.from({ length: 20 }, (_, each) =>
      (each % 2 === 0 ? idempotency : other).run(request('rush'), work),
    );
    const outcomes = await Promise.allSettled(attempts);
    expect(done).toBe(1);
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(inUse);
    }
  });

  it('store the answer of the attempt that took over, not of the late one', async () => {
    const { finish } = await crash('late');
    await idempotency.run(request('late'), () => Promise.resolve(answer('second')));
    await finish('first');
    expect((await idempotency.run(request('late'), never)).answer.body).toBe('second');
  });

  it('release a key when it is unknown whether its record was stored', async () => {
    const lost: IdempotencyStore = {
      ...store,
      insert: async (record) => {
        if (record.termMs === 70_000) void sleep(20).then(() => store.insert(record));
        return Promise.reject(unknown);
      },
    };
    const unlucky = createIdempotency({ ...system, store: lost, ...limits });
    await expect(unlucky.run(request('lost', {}, 70_000), never)).rejects.toBe(unknown);
    await sleep(100); // The insert arrived too late.
    expect((await idempotency.run(request('lost', {}, 70_000), saysItsId)).replayed).toBe(false);
  });

  it('release a key however long the database does not answer', async () => {
    let away = true;
    const standing: IdempotencyStore = {
      ...store,
      giveUp: (record) => (away ? Promise.reject(unknown) : store.giveUp(record)),
    };
    const unlucky = createIdempotency({ ...system, store: standing, ...limits });
    const failing = unlucky.run(request('standing', {}, 70_000), () => Promise.reject(unknown));
    await expect(failing).rejects.toBe(unknown);
    away = false;
    await unlucky.drain(5_000);
    expect((await idempotency.run(request('standing', {}, 70_000), saysItsId)).replayed).toBe(false);
  });

  it.each([['an outage', unknown] as const, ['a fault', new Error('bug')] as const])(
    'let the next attempt go on under the same id after %s, without waiting for the lease',
    async (what, failure) => {
      let reserved = '';
      const failing = idempotency.run(request(what), (resourceId) => {
        reserved = resourceId;
        return Promise.reject(failure);
      });
      await expect(failing).rejects.toBe(failure);
      expect((await idempotency.run(request(what), saysItsId)).answer.body).toBe(reserved);
    },
  );

  it('continue with the same id after an outage and after a refusal by a limit', async () => {
    const tooMuch = new ProblemError('too-much-kept', { detail: 'none' });
    const reserved: string[] = [];
    for (const failure of [unknown, tooMuch]) {
      const failing = idempotency.run(request('limited'), (resourceId) => {
        reserved.push(resourceId);
        return Promise.reject(failure);
      });
      await expect(failing).rejects.toBe(failure);
    }
    const { answer: made } = await idempotency.run(request('limited'), saysItsId);
    expect(reserved).toEqual([made.body, made.body]);
  });

  it('release the key of a refused request, also for another body', async () => {
    const refusal = new ProblemError('prompt-not-found', { detail: 'none' });
    await expect(idempotency.run(request('refused'), () => Promise.reject(refusal))).rejects.toBe(refusal);
    expect((await idempotency.run(request('refused', { other: true }), saysItsId)).replayed).toBe(false);
  });

  it.each([
    ['kept up to the limit', largestKeptBody, 0],
    ['generated again above it', largestKeptBody + 1, 1],
    ['measured in bytes', undefined, 1],
  ])('answers are %s', async (_what, length, calls) => {
    const key = randomUUID();
    // Fewer characters than the limit, but more bytes.
    const body = length === undefined ? '€'.repeat(largestKeptBody / 2) : 'x'.repeat(length);
    const ids: string[] = [];
    const work = (resourceId: string): Promise<KeptAnswer> => {
      ids.push(resourceId);
      return Promise.resolve(answer(body));
    };
    await idempotency.run(request(key), work);
    const replay = await idempotency.run(request(key), work);
    expect(replay.replayed).toBe(true);
    expect(replay.answer.body === body).toBe(true);
    expect(ids).toHaveLength(1 + calls);
    expect(new Set(ids).size).toBe(1);
  });

  it('return the answer and report the error when it cannot be stored', async () => {
    const errors: unknown[] = [];
    const full = new Error('no space left on device');
    const finish = () => Promise.reject(full);
    const other = createIdempotency({
      ...system,
      ...limits,
      store: { ...store, finish },
      onError: (error) => errors.push(error),
    });
    const { replayed } = await other.run(request('full'), saysItsId);
    expect([replayed, errors]).toEqual([false, [full]]);
  });

  it('keep an answer for a day', async () => {
    const before = Date.now();
    const { answer: kept } = await idempotency.run(request('day'), saysItsId);
    const expiresAt = (await recordOf(kept.body))?.['expires_at'] as Date;
    expect(expiresAt.getTime() - before).toBeGreaterThanOrEqual(24 * 3_600_000);
    expect(expiresAt.getTime() - before).toBeLessThan(26 * 3_600_000);
    const indexes = await database.db.collection('idempotency_keys').indexes();
    expect(indexes).toContainEqual(expect.objectContaining(expiryIndex));
  });

  it('wait for work in progress when the process stops, for a limited time', async () => {
    const other = createIdempotency({ ...system, store, ...limits });
    const work = Promise.withResolvers<KeptAnswer>();
    const run = other.run(request('stop'), () => work.promise);
    let drained = false;
    await other.drain(50);
    const draining = other.drain(10_000).then(() => (drained = true));
    await sleep(50);
    expect(drained).toBe(false);
    work.resolve(answer('done'));
    await draining;
    await run;
  });

  it('give up those beside one that cannot be given up, and this one by its term', async () => {
    const errors: unknown[] = [];
    const attempts: string[] = [];
    const giveUp = (record: IdempotencyRecord): Promise<void> => {
      attempts.push(record.owner);
      return attempts.length === 1 ? Promise.reject(new TypeError('a mistake in the program')) : store.giveUp(record);
    };
    const other = createIdempotency({
      ...{ ...system, ...limits, store: { ...store, giveUp } },
      onError: (error, id) => errors.push({ error, id }),
    });
    const fails = (): Promise<KeptAnswer> => Promise.reject(new Error('a fault'));
    const outcomes = await Promise.allSettled(
      [randomUUID(), randomUUID()].map((key) => other.run(request(key), fails)),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await other.drain(10_000);
    expect(new Set(attempts).size).toBe(2);
    expect(attempts).toHaveLength(2);
    expect(errors).toEqual([{ error: expect.any(TypeError), id: expect.any(String) }]);
  });
});
