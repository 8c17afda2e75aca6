import { EventEmitter } from 'node:events';
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setImmediate as soon } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { ProblemError } from '../../src/base/errors/problem-error.ts';
import { CallerGoneError } from '../../src/http/caller-gone.ts';
import { createListQueue, type ListQueue, type ListQueueOptions } from '../../src/http/list-queue.ts';
import type { RawAnswer } from '../../src/http/problem-response.ts';

const answer: RawAnswer = { status: 200, headers: {}, body: '[]' };

interface Call {
  readonly response: EventEmitter & { closed: boolean };
  readonly hangUp: () => void;
  /** Closes the connection, and ends the answer for it. */
  readonly close: () => void;
  readonly result: Promise<RawAnswer>;
  /** Ends the reading of the list. */
  readonly end: () => void;
  readonly fail: (error: Error) => void;
  begun: boolean;
}

function ask(
  queue: ListQueue,
  key: string,
  target = `/${randomUUID()}`,
  response = Object.assign(new EventEmitter(), { closed: false }),
): Call {
  const controller = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const call: Call = {
    response,
    begun: false,
    hangUp: () => {
      controller.abort(new CallerGoneError());
    },
    close: () => {
      controller.abort(new CallerGoneError());
      response.closed = true;
      response.emit('close');
    },
    end: () => {
      resolve(answer);
    },
    fail: reject,
    result: queue.run(
      {
        principal: { id: key, family: key },
        target,
        response: response as unknown as ServerResponse,
        signal: controller.signal,
      },
      () => {
        call.begun = true;
        return promise;
      },
    ),
  };
  call.result.catch(() => undefined);
  return call;
}

const queueOf = (options: ListQueueOptions): ListQueue => createListQueue({ waitLimitMs: 500, ...options });

describe('the queue of lists', () => {
  it('reads few lists at the same time, and shares the places fairly between keys', async () => {
    const queue = queueOf({ places: 1 });
    const calls = ['a', 'a', 'a', 'b'].map((key) => ask(queue, key));
    await soon();
    expect(calls.map(({ begun }) => begun)).toEqual([true, false, false, false]);
    calls[0]?.end();
    await expect(calls[0]?.result).resolves.toBe(answer);
    await soon();
    calls[1]?.end();
    await soon();
    await soon();
    expect(calls.map(({ begun }) => begun)).toEqual([true, true, false, true]);
  });

  it('fails waiting calls when one call finds the database unavailable, and reads again afterwards', async () => {
    const queue = queueOf({ places: 1, answers: 2 });
    const calls = Array.from({ length: 5 }, () => ask(queue, 'a'));
    await soon();
    const away = new ProblemError('database-unavailable', { detail: 'away' });
    calls[0]?.fail(away);
    const results = await Promise.allSettled(calls.map(({ result }) => result));
    expect(results).toEqual(calls.map(() => ({ status: 'rejected', reason: away })));
    expect(calls.map(({ begun }) => begun)).toEqual([true, false, false, false, false]);
    for (const { response } of calls) response.emit('close');
    const later = ask(queue, 'a');
    later.end();
    await expect(later.result).resolves.toBe(answer);
  });

  it('removes callers that close the connection', async () => {
    const queue = queueOf({ places: 1, answers: 1 });
    const [first, second, third] = [ask(queue, 'a'), ask(queue, 'a'), ask(queue, 'a')];
    await soon();
    second.hangUp();
    await expect(second.result).rejects.toThrow(CallerGoneError);
    first.end();
    first.close();
    await soon();
    await soon();
    expect([second.begun, third.begun]).toEqual([false, true]);
  });

  it('has no more lists in progress if callers close their connections', async () => {
    const queue = queueOf({ places: 1, answers: 6 });
    const calls: Call[] = [];
    for (let count = 0; count < 20; count += 1) {
      const call = ask(queue, 'a');
      calls.push(call);
      await soon();
      call.close();
      await soon();
    }
    const last = ask(queue, 'a');
    for (const call of [...calls, last]) call.end();
    await expect(last.result).resolves.toBe(answer);
    expect(calls.filter(({ begun }) => begun)).toHaveLength(3);
  });

  it('shares a read between callers that already wait for the same list, but not with later ones', async () => {
    const queue = queueOf({ places: 1 });
    const calls = ['a', 'a', 'a', 'b'].map((key) => ask(queue, key, '/v1/orders?limit=1'));
    await soon();
    calls[0]?.end();
    await soon();
    await soon();
    expect(calls.map(({ begun }) => begun)).toEqual([true, false, false, true]);
    calls[3]?.end();
    await soon();
    await soon();
    expect(calls.map(({ begun }) => begun)).toEqual([true, true, false, true]);
    calls[1]?.end();
    await expect(calls[2]?.result).resolves.toBe(answer);
    expect(calls[2]?.begun).toBe(false);
  });

  it('starts no list for a key with too many unread answers, but serves other keys', async () => {
    const queue = queueOf({ places: 6, answers: 6 });
    const calls = ['a', 'a', 'a', 'a', 'b'].map((key) => ask(queue, key));
    await soon();
    for (const call of calls) call.end();
    await soon();
    await soon();
    expect(calls.map(({ begun }) => begun)).toEqual([true, true, true, false, true]);
    for (const index of [0, 4]) calls[index]?.response.emit('close');
    await soon();
    await soon();
    expect(calls[3]?.begun).toBe(true);
  });

  it('has one place for all lists of a request, until its answer is received and all are read', async () => {
    const queue = queueOf({ places: 4, answers: 2 });
    const first = ask(queue, 'a');
    const second = ask(queue, 'a', undefined, first.response);
    await soon();
    first.end();
    second.end();
    await Promise.all([first.result, second.result]);
    const third = ask(queue, 'a', undefined, first.response);
    const other = ask(queue, 'a');
    await soon();
    expect([third.begun, other.begun, first.response.listenerCount('close')]).toEqual([true, false, 1]);
    third.close();
    await soon();
    expect(other.begun).toBe(false);
    third.end();
    await third.result;
    await soon();
    expect(other.begun).toBe(true);
    other.end();
    await other.result;
  });

  it('refuses lists that wait too long, and lists above the limit', async () => {
    const queue = queueOf({ places: 1, answers: 6, maxWaitingPerKey: 1, maxWaiting: 2, waitLimitMs: 30 });
    const calls = ['a', 'a', 'a', 'a', 'a', 'b', 'c', 'd', 'e', 'f'].map((key) => ask(queue, key));
    const problemOf = async (call: Call | undefined): Promise<unknown> =>
      call?.result.catch((error: unknown) => {
        const { type, headers } = error as { type: string; headers: Record<string, string> };
        return [type, headers['Retry-After']];
      });
    expect(await problemOf(calls[4])).toEqual(['rate-limited', '5']);
    expect(await problemOf(calls[9])).toEqual(['overloaded', '5']);
    expect(await problemOf(calls[3])).toEqual(['overloaded', '5']);
    expect(calls[0]?.begun).toBe(true);
  });
});
