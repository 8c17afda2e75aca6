import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defaultTiming } from '../../src/webhooks/timing.ts';
import { createWebhooks } from '../../src/webhooks/webhooks.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { adminKey } from '../support/send.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** The part of the output file of `respect` that the tests read. */
interface Log {
  readonly files: Readonly<Record<string, { readonly executedWorkflows: readonly { readonly status: string }[] }>>;
}

const root = path.join(import.meta.dirname, '../..');
const flows = globSync('openapi/flows/*.yaml', { cwd: root }).sort();
/** The usual settings, but retries are due after a second. */
const timing = { ...defaultTiming, schedule: defaultTiming.schedule.map((wait) => Math.min(wait, 1_000)) };

let service: TestService;
let receiver: Receiver;
let deadReceiver: Receiver;
let output: string;
let log: Log;

/** Runs all flows in one process, as a partner does. */
beforeAll(async () => {
  receiver = await startReceiver();
  deadReceiver = await startReceiver();
  deadReceiver.always({ kind: 'answer', status: 500 });
  service = await startTestService({
    environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
    createWebhooks: (dependencies) => createWebhooks({ ...dependencies, timing }),
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'flows-'));
  const logFile = path.join(folder, 'log.json');
  const inputs = { apiKey: adminKey, receiverUrl: receiver.url, deadReceiverUrl: deadReceiver.url };
  output = await runRedocly([
    ...['respect', ...flows, '--verbose', '--json-output', logFile],
    ...['--server', JSON.stringify({ gateway: service.url }), '--input', JSON.stringify(inputs)],
  ]);
  log = JSON.parse(await readFile(logFile, 'utf8').catch(() => '{"files":{}}')) as Log;
  await rm(folder, { recursive: true });
}, 300_000);
afterAll(async () => {
  await service.close();
  await receiver.close();
  await deadReceiver.close();
});

/** @returns the output */
function runRedocly(parameters: readonly string[]): Promise<string> {
  const program = path.join(root, 'node_modules/@redocly/cli/bin/cli.js');
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };
  const options = { cwd: root, env, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...parameters], options, (_error, stdout, stderr) => {
      resolve(stdout + stderr);
    });
  });
}

describe('flows', () => {
  it.each(flows)('%s works step by step', (flow) => {
    const statuses = log.files[flow]?.executedWorkflows.map(({ status }) => status);
    if (statuses?.join() !== 'success') throw new Error(output);
  });

  it('do not print an API key', () => {
    expect(output).toContain('authorization: Bearer ********');
    expect(output).not.toContain(adminKey);
  });
});

describe('receivers', () => {
  /** The ids of the events that arrived, by integration, with the number of signatures of each event. */
  const arrivedAt = ({ requests }: Receiver): Map<string, number>[] => {
    const byIntegration = Map.groupBy(requests, ({ headers }) => headers['x-service-application-id']);
    return [...byIntegration.values()].map(
      (deliveries) =>
        new Map(
          deliveries.map(({ headers }) => [
            headers['webhook-id'] ?? '',
            headers['webhook-signature']?.split(' ').length ?? 0,
          ]),
        ),
    );
  };

  it('get every event, including those that another receiver refused', () => {
    const [ordered, recovered, rotated] = arrivedAt(receiver);
    const [refused] = arrivedAt(deadReceiver);
    expect([ordered?.size, recovered?.size, rotated?.size]).toEqual([1, 6, 2]);
    expect(refused?.size).toBeGreaterThan(0);
    expect([...(refused?.keys() ?? [])].filter((id) => recovered?.has(id) !== true)).toEqual([]);
  });

  it('get one signature for each valid secret', () => {
    const [ordered, recovered, rotated] = arrivedAt(receiver).map((events) => [...events.values()]);
    expect([ordered, recovered, rotated]).toEqual([[1], [1, 1, 1, 1, 1, 1], [2, 1]]);
  });
});
