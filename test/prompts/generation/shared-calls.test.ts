import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import {
  createSharedCalls,
  type Caller,
  type CallTerms,
  type SharedCalls,
} from '../../../src/prompts/generation/shared-calls.ts';

/** A call that the test answers. */
function startCall(
  calls: SharedCalls<string>,
  caller: Caller,
  key = 'key',
): {
  answer: Promise<string>;
  terms: CallTerms;
  finish: (text: string) => void;
  fail: (error: Error) => void;
  kept: string[];
} {
  const { promise, resolve: finish, reject: fail } = Promise.withResolvers<string>();
  const kept: string[] = [];
  let terms: CallTerms | undefined;
  const answer = calls.start(key, caller, {
    perform: (given) => {
      terms = given;
      given.signal.addEventListener('abort', () => {
        fail(given.signal.reason as Error);
      });
      return promise;
    },
    keep: (text) => {
      kept.push(text);
    },
  });
  if (terms === undefined) throw new Error('The call was not started.');
  return { answer, terms, finish, fail, kept };
}

const callers = (): { caller: (inMs?: number) => Caller; hangUp: (caller: Caller) => void } => {
  const controllers = new Map<AbortSignal, AbortController>();
  return {
    caller: (inMs = 10_000) => {
      const controller = new AbortController();
      controllers.set(controller.signal, controller);
      return {
        signal: controller.signal,
        deadline: performance.now() + inMs,
        timeout: () => new Error(`late after ${inMs} ms`),
      };
    },
    hangUp: ({ signal }) => controllers.get(signal)?.abort(new Error('hung up')),
  };
};

describe('createSharedCalls', () => {
  it('answers all callers with one call, and stores the answer once', async () => {
    const { caller } = callers();
    const calls = createSharedCalls<string>();
    const call = startCall(calls, caller());
    const others = [calls.join('key', caller()), calls.join('key', caller())];
    call.finish('hello');
    expect(await Promise.all([call.answer, ...others])).toEqual(['hello', 'hello', 'hello']);
    expect(call.kept).toEqual(['hello']);
  });

  it('joins nothing if no call is in progress', async () => {
    const { caller } = callers();
    const calls = createSharedCalls<string>();
    const call = startCall(calls, caller());
    expect(calls.join('another key', caller())).toBeUndefined();
    call.finish('hello');
    await call.answer;
    expect(calls.join('key', caller())).toBeUndefined();
  });

  it('fails for all waiting callers, stores nothing, and ends', async () => {
    const { caller } = callers();
    const calls = createSharedCalls<string>();
    const call = startCall(calls, caller());
    const other = calls.join('key', caller());
    call.fail(new Error('broken'));
    const outcomes = await Promise.allSettled([call.answer, other]);
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && String(outcome.reason))).toEqual([
      'Error: broken',
      'Error: broken',
    ]);
    expect(call.kept).toEqual([]);
    expect(calls.join('key', caller())).toBeUndefined();
  });

  it('ends a caller at its own deadline with its own error, and continues for the others', async () => {
    const { caller } = callers();
    const calls = createSharedCalls<string>();
    const call = startCall(calls, caller(50));
    const patient = calls.join('key', caller());
    await expect(call.answer).rejects.toThrow('late after 50 ms');
    expect(call.terms.signal.aborted).toBe(false);
    call.finish('hello');
    expect(await patient).toBe('hello');
    expect(call.kept).toEqual(['hello']);
  });

  it('runs to the latest deadline, which moves when a caller joins', () => {
    const { caller } = callers();
    const calls = createSharedCalls<string>();
    const first = caller(1_000);
    const call = startCall(calls, first);
    expect(call.terms.deadline).toBe(first.deadline);
    void calls.join('key', caller(500));
    expect(call.terms.deadline).toBe(first.deadline);
    const longest = caller(2_000);
    void calls.join('key', longest);
    expect(call.terms.deadline).toBe(longest.deadline);
    call.finish('hello');
  });

  it('is canceled when the last caller has left, and cannot be joined after that', async () => {
    const { caller, hangUp } = callers();
    const calls = createSharedCalls<string>();
    const [first, second] = [caller(), caller()];
    const call = startCall(calls, first);
    const other = calls.join('key', second);
    hangUp(first);
    await expect(call.answer).rejects.toThrow('hung up');
    expect(call.terms.signal.aborted).toBe(false);
    hangUp(second);
    expect(call.terms.signal.aborted).toBe(true);
    expect(calls.join('key', caller())).toBeUndefined();
    await expect(other).rejects.toThrow('hung up');
    expect(call.kept).toEqual([]);
  });

  it('is canceled when the last deadline has passed', async () => {
    const { caller } = callers();
    const calls = createSharedCalls<string>();
    const call = startCall(calls, caller(30));
    await expect(call.answer).rejects.toThrow('late after 30 ms');
    expect(call.terms.signal.aborted).toBe(true);
  });

  it('does nothing for a caller that has already closed the connection', async () => {
    const { caller, hangUp } = callers();
    const calls = createSharedCalls<string>();
    const gone = caller();
    hangUp(gone);
    const perform = (): Promise<string> => Promise.reject(new Error('must not be called'));
    await expect(calls.start('key', gone, { perform, keep: () => undefined })).rejects.toThrow('hung up');

    const present = caller();
    const call = startCall(calls, present);
    await expect(calls.join('key', gone)).rejects.toThrow('hung up');
    hangUp(present);
    expect(call.terms.signal.aborted).toBe(true);
    await expect(call.answer).rejects.toThrow('hung up');
  });

  it('gives the key to a later call, whose answer is stored', async () => {
    const { caller } = callers();
    const calls = createSharedCalls<string>();
    const earlier = startCall(calls, caller());
    const later = startCall(calls, caller());
    const joined = calls.join('key', caller());
    later.finish('new');
    expect(await Promise.all([later.answer, joined])).toEqual(['new', 'new']);
    earlier.finish('old');
    expect(await earlier.answer).toBe('old');
    expect([earlier.kept, later.kept]).toEqual([[], ['new']]);
  });

  it('leaves no timer and no listener behind', async () => {
    const { caller, hangUp } = callers();
    const calls = createSharedCalls<string>();
    const first = caller(30);
    const call = startCall(calls, first);
    call.finish('hello');
    expect(await call.answer).toBe('hello');
    await sleep(60);
    hangUp(first);
    expect(call.terms.signal.aborted).toBe(false);
  });
});
