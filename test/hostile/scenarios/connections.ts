import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadFromOutside } from '../../bench/processes.ts';
import { figuresOf, type Scenario, type Target } from '../hostile-world.ts';

function open(target: Target): Socket {
  const { hostname, port } = new URL(target.url);
  return connect(Number(port), hostname).on('error', () => undefined);
}

const getContract = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';

/** Pipelined requests without a key. Their answers are never read. */
const pipelined: Scenario = {
  name: 'pipelined-unread',
  about: 'four connections send 1,500 requests each for /openapi.json and read no answers, for 10 s',
  async run(world) {
    const target = await world.startTarget();
    const watching = await world.watch(target);
    const sockets = Array.from({ length: 4 }, () => open(target).pause());
    for (const socket of sockets) socket.write(getContract.repeat(1_500));
    await sleep(10_000);
    const seen = await watching.stop();
    for (const socket of sockets) socket.destroy();
    return figuresOf(seen, { p50: 10, p99: 50, serviceMebibytes: 400 });
  },
};

/** The load: many connections at once, from a process of its own. */
const load = { connections: 32, seconds: 10 };

const contractReaders: Scenario = {
  name: 'contract-readers',
  about: '32 connections request /openapi.json continuously, for 10 s',
  async run(world) {
    const target = await world.startTarget();
    const watching = await world.watch(target);
    const result = await loadFromOutside({ ...load, url: `${target.url}/openapi.json`, headers: {}, status: 200 });
    return [
      { name: 'answers', value: result.requests },
      { name: 'answers other than 200', value: result.failures, atMost: 0 },
      ...figuresOf(await watching.stop(), { p50: 20, p99: 50, serviceMebibytes: 400 }),
    ];
  },
};

const stalled: Scenario = {
  name: 'answers-not-taken',
  about:
    '100 connections request /openapi.json thirty times each and read nothing; the service closes all of them within 90 s',
  async run(world) {
    const target = await world.startTarget();
    const watching = await world.watch(target);
    const started = performance.now();
    const sockets = Array.from({ length: 100 }, () => open(target).pause());
    for (const socket of sockets) socket.write(getContract.repeat(30));
    // A paused client notices the closed connection when it sends.
    const isCut = (socket: Socket): boolean => socket.destroyed || !socket.write('G');
    while (performance.now() - started < 90_000 && sockets.some((socket) => !socket.destroyed)) {
      await sleep(1_000);
      if (performance.now() - started > 60_000) sockets.forEach(isCut);
    }
    const left = sockets.filter((socket) => !socket.destroyed).length;
    for (const socket of sockets) socket.destroy();
    return [
      { name: 'connections still open', value: left, atMost: 0 },
      { name: 'time until all were cut', value: (performance.now() - started) / 1_000, unit: 's', atMost: 90 },
      ...figuresOf(await watching.stop(), { p50: 10, p99: 100, serviceMebibytes: 400 }),
    ];
  },
};

const forgedKeys: Scenario = {
  name: 'forged-keys',
  about: '32 connections send unknown keys, each of them different, for 10 s',
  async run(world) {
    const target = await world.startTarget();
    const watching = await world.watch(target);
    const headers = { authorization: `Bearer pgw_{n}_${'A'.repeat(43)}` };
    const result = await loadFromOutside({ ...load, url: `${target.url}/api/v1/prompts`, headers, status: 429 });
    return [
      { name: 'refused after a look', value: result.failures, atMost: 132 },
      { name: 'refused without', value: result.requests - result.failures, atLeast: 1_000 },
      ...figuresOf(await watching.stop(), { p50: 10, p99: 100 }),
    ];
  },
};

export const scenarios: readonly Scenario[] = [pipelined, contractReaders, stalled, forgedKeys];
