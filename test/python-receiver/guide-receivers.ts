import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { findBlock, readBlocks, readGuide } from '../support/documents.ts';
import { reservePort } from '../support/ports.ts';
import { until } from '../support/until.ts';

/** Calls the service. The answer has members of the operations that are used. */
export type Call = (
  target: string,
  body?: unknown,
  method?: string,
) => Promise<{ id: string; event_id: string; status: string; body: string }>;

/** How the guide starts the receivers: the import that is only in the program, and the command. */
const receivers = [
  ['from fastapi', 'uvicorn receiver:app'],
  ['from flask', 'flask --app receiver'],
] as const;

const printEvents = "import sqlite3; print(*sqlite3.connect('inbox.db').execute('SELECT id FROM events').fetchall())";

/**
 * Runs the receivers of the guide "Receive events" with its commands. Each gets an event from the service twice, and
 * deliveries that it must refuse.
 *
 * @param programs the folder of Python's programs
 * @throws AssertionError if one of them answers otherwise, or stores something else
 */
export async function checkGuideReceivers(programs: string, call: Call): Promise<void> {
  const blocks = readBlocks(await readGuide('1-receive-events.md'));
  for (const [imported, start] of receivers) {
    const command = findBlock(blocks, 'sh', start).replace(/^pip .*\n/, '');
    await checkReceiver(findBlock(blocks, 'python', imported), command, programs, call);
    console.log(`"${start}" of the guide stored an event that it got twice once, and refused what is forged or old`);
  }
}

async function checkReceiver(program: string, command: string, programs: string, call: Call): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'guide-receiver-'));
  await writeFile(path.join(folder, 'receiver.py'), program);
  const port = await reservePort();
  const env = { ...process.env, PATH: `${programs}:${process.env['PATH']}` };
  const run = `exec env ${command.replace('--port 9000', `--port ${port}`)}`;
  const server = spawn('bash', ['-c', run], { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(server, 'exit');
  let output = '';
  server.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  try {
    const url = `http://127.0.0.1:${port}/events`;
    await until(() => {
      assert.equal(server.exitCode, null, output);
      return fetch(url).catch(() => undefined);
    });
    const [, secret = ''] = /WEBHOOK_SECRET=(\S+)/.exec(command) ?? [];
    const event = await deliverTwice(url, secret, call);

    const webhook = new Webhook(Buffer.from(secret).toString('base64'));
    const signed = (at: Date): Record<string, string> => ({
      'webhook-id': event.event_id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': webhook.sign(event.event_id, at, event.body),
    });
    const now = new Date();
    const send = async (body: string, headers: Record<string, string>): Promise<number> => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      });
      return answer.status;
    };
    const answers = {
      genuine: await send(event.body, signed(now)),
      changed: await send(event.body.replace('"TEST"', '"PEST"'), signed(now)),
      old: await send(event.body, signed(new Date(now.getTime() - 6 * 60_000))),
      malformed: await send(event.body, { ...signed(now), 'webhook-signature': 'v1' }),
      unsigned: await send(event.body, {}),
    };
    assert.deepEqual(answers, { genuine: 204, changed: 401, old: 401, malformed: 401, unsigned: 401 }, output);
    const { stdout } = await promisify(execFile)('python', ['-c', printEvents], { cwd: folder, env });
    assert.equal(stdout, `('${event.event_id}',)\n`);
  } finally {
    server.kill();
    await ended;
    await rm(folder, { recursive: true });
  }
}

/** Lets the service send an event, then send it again. @returns the first delivery */
async function deliverTwice(url: string, secret: string, call: Call): ReturnType<Call> {
  const receiver = { name: 'Receiver of the guide', url, secret, event_types: ['ORDER_PLACED'] };
  const integration = await call('/api/v1/integrations', receiver);
  const settled = async (id: string): ReturnType<Call> =>
    until(
      () => call(`/api/v1/deliveries/${id}`, undefined, 'GET'),
      ({ status }) => status === 'delivered',
    );
  const first = await settled((await call(`/api/v1/integrations/${integration.id}/test`)).id);
  const again = await settled((await call(`/api/v1/deliveries/${first.id}/resend`)).id);
  assert.equal(again.event_id, first.event_id);
  return first;
}
