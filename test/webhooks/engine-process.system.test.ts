import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { startHarness, takeoverTiming, type Harness } from './webhooks-harness.ts';

let harness: Harness;
let receiver: Receiver;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await harness.stopEngines();
  await harness.removeIntegrations();
  await receiver.close();
});

describe('another process', () => {
  let child: ChildProcess;

  const start = async (): Promise<void> => {
    const { uri, databaseName } = harness.database;
    const script = new URL('engine-process.ts', import.meta.url).pathname;
    child = spawn(process.execPath, [script, uri, databaseName], { stdio: ['ignore', 'pipe', 'inherit'] });
    if (child.stdout !== null) await once(child.stdout, 'data');
  };
  afterEach(() => {
    child.kill('SIGKILL');
  });

  it('that is killed while it sends is replaced when its lease has ended', async () => {
    receiver.always({ kind: 'hang' });
    const id = await harness.addIntegration({ url: receiver.url });
    await start();
    const eventId = await harness.placeOrder();
    await receiver.received(1);
    child.kill('SIGKILL');
    receiver.always({ kind: 'answer' });
    const engine = harness.createEngine({ timing: takeoverTiming });
    engine.start();
    await harness.settled(id, 1);
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual([eventId, eventId]);
    expect(await harness.delivery(eventId, id)).toMatchObject({ status: 'delivered', attemptCount: 2, failures: 0 });
    await engine.stop(1_000);
  });

  it('that is suspended for longer than its lease settles nothing wrongly and starts nothing', async () => {
    receiver.always({ kind: 'hang' });
    const id = await harness.addIntegration({ url: receiver.url });
    await start();
    const eventId = await harness.placeOrder();
    await receiver.received(1);
    child.kill('SIGSTOP');
    // The new holder fails too, and its failure must be the one that counts.
    const slow = { ...takeoverTiming, totalTimeout: 1_000, schedule: [0, 60_000, 60_000] };
    const engine = harness.createEngine({ timing: slow });
    engine.start();
    await receiver.received(2);
    await until(async () => (await harness.delivery(eventId, id))?.failures === 1);
    const before = await harness.delivery(eventId, id);
    child.kill('SIGCONT');
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    expect(await harness.delivery(eventId, id)).toEqual(before);
    expect(before).toMatchObject({ status: 'pending', attemptCount: 2, failures: 1 });
    expect(receiver.requests).toHaveLength(2);
    await engine.stop(1_000);
  });
});
