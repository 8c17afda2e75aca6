import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { MongoServerError } from 'mongodb';
import { watchServer, type Watched } from '../../../src/storage/db/embedded/watch.ts';
import { recordingLog } from '../../support/log.ts';
import { until } from '../../support/until.ts';

const panic = new MongoServerError({ errmsg: 'WT_PANIC: WiredTiger library panic', code: 1 });
const silence = new Error('no answer within 2 s');
const times = {
  intervalMs: 2,
  silentForMs: 100,
  workingForMs: 1_000,
  pauseMs: 40,
};

let stop: (() => Promise<void>) | undefined;
afterEach(() => stop?.());

/** Watches a server in the state `state`, and counts its replacements. */
function watch(
  state: { running?: boolean; full?: boolean; failure?: Error; replacementFails?: boolean; used?: number },
  monotonic?: () => number,
) {
  const replacements: number[] = [];
  let reads = 0;
  const log = recordingLog();
  const watched: Watched = {
    isRunning: () => state.running !== false,
    processorTime: () => Promise.resolve(state.used),
    read: () => {
      reads += 1;
      return state.failure === undefined ? Promise.resolve() : Promise.reject(state.failure);
    },
    isFull: () => Promise.resolve(state.full === true),
    replace() {
      replacements.push(performance.now());
      if (state.replacementFails === true) return Promise.reject(new Error('does not start'));
      delete state.running;
      delete state.failure;
      return Promise.resolve();
    },
  };
  stop = watchServer(watched, log, times, monotonic);
  /** Waits until the watch has read the current state of the server. */
  const seen = async (): Promise<void> => {
    const before = reads;
    await until(() => reads > before + 1);
  };
  return { replacements, log, seen };
}

describe('watchServer', () => {
  it('does not replace a server that works', async () => {
    const { replacements } = watch({});
    await sleep(50);
    expect(replacements).toEqual([]);
  });

  it.each([
    ['that has ended', { running: false }, 'has ended; restarting it'],
    ['with a stopped storage engine', { failure: panic }, 'cannot read any more (WT_PANIC'],
    ['that has not answered for a long time', { failure: silence }, 'has not answered for'],
  ])('replaces a server %s, once', async (_what, state, told) => {
    const { replacements, log } = watch(state);
    await until(() => replacements.length > 0);
    await sleep(50);
    expect(replacements).toHaveLength(1);
    expect(log.lines.join('\n')).toContain(told);
    expect(log.lines.join('\n')).toContain('works again');
  });

  it.each([
    [0.9 * times.workingForMs, 0],
    [1.1 * times.workingForMs, 1],
  ])('that does not answer for %i ms while it works replaces it %i times', async (silentMs, expected) => {
    const state = { failure: silence, used: 0 };
    let time = 0;
    const { replacements, seen } = watch(state, () => time);
    for (const end = silentMs; time < end;) {
      time += 50;
      state.used += 5;
      await seen();
    }
    expect(replacements).toHaveLength(expected);
  });

  it('replaces a server that does not answer and only answers heartbeats', async () => {
    const state = { failure: silence, used: 0 };
    let time = 0;
    const { replacements, seen } = watch(state, () => time);
    while (time < 1.5 * times.silentForMs && replacements.length === 0) {
      time += 50;
      state.used += 0.5;
      await seen();
    }
    await until(() => replacements.length === 1);
  });

  it('does not replace a server that has not answered for a short time', async () => {
    const state: { failure?: Error } = { failure: silence };
    let time = 0;
    const { replacements, seen } = watch(state, () => time);
    time += 0.9 * times.silentForMs;
    await seen();
    delete state.failure;
    await seen();
    state.failure = silence;
    time += 0.9 * times.silentForMs;
    await seen();
    expect(replacements).toEqual([]);
  });

  it('makes pauses while no server starts', async () => {
    const { replacements } = watch({ running: false, replacementFails: true });
    await until(() => replacements.length >= 4);
    const pauses = replacements.slice(1).map((at, i) => at - (replacements[i] ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(times.pauseMs - 1);
  });

  it('waits for free space before it starts a server, and reports this once', async () => {
    const state = { failure: panic, full: true };
    const { replacements, log } = watch(state);
    await until(() => log.lines.length > 0);
    await sleep(20);
    expect(replacements).toEqual([]);
    expect(log.lines).toEqual([expect.stringMatching(/its file system is full; waiting for space/)]);
    state.full = false;
    await until(() => replacements.length === 1);
  });
});
