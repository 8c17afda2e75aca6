import { once } from 'node:events';
import { createServer, connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { MongoServerError } from 'mongodb';
import { isOutage } from '../../../src/base/errors/outage.ts';
import { databaseUnavailable, isUnavailable } from '../../../src/storage/db/database-errors.ts';
import { withRetry } from '../../../src/storage/db/retry.ts';

/** The error of a socket that is written to after the other side has closed it. */
async function writeAfterEnd(): Promise<unknown> {
  const server = createServer((peer) => peer.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.resume();
  await once(socket, 'end');
  const failure = new Promise((resolve) => socket.write('x', resolve));
  socket.on('error', () => undefined);
  const error = await Promise.race([failure, sleep(5_000)]);
  socket.destroy();
  server.close();
  return error;
}

const serverError = (code: number, errmsg: string) => new MongoServerError({ code, errmsg });

describe('a database without space', () => {
  it.each([
    serverError(14031, 'available disk space of 1 bytes is less than required minimum of 524288000'),
    serverError(1, 'WiredTiger error: WtError { code: 28, message: "No space left on device" }'),
    serverError(8000, 'you are over your space quota, using 518 MB of 512 MB'),
  ])('is recognised: %p', (error) => {
    expect(isUnavailable(error)).toBe(true);
    expect(databaseUnavailable(error)).toMatchObject({ type: 'storage-full', status: 503 });
  });
});

describe('a database is unavailable', () => {
  it.each([
    serverError(1, 'WiredTiger error: WtError { code: -31804, message: "WT_PANIC: WiredTiger library panic" }'),
    serverError(1, 'internal server error'),
    serverError(10107, 'not primary'),
    serverError(24, 'Unable to acquire lock within 5ms'),
    serverError(43, 'cursor id 8123 not found'),
    serverError(11601, 'operation was interrupted'),
    serverError(112, 'WriteConflict error: this operation conflicted with another operation'),
    serverError(16908292, 'deadlock detected'),
  ])('when its server no longer works, or gave up a write: %p', (error) => {
    expect(isUnavailable(error)).toBe(true);
    expect(databaseUnavailable(error)).toMatchObject({ type: 'database-unavailable', status: 503 });
  });

  it.each([
    serverError(13, 'command find requires authentication'),
    serverError(18, 'Authentication failed.'),
    serverError(8000, 'bad auth : authentication failed'),
  ])('when it refuses the credentials, which nobody repeats within a request: %p', async (error) => {
    let attempts = 0;
    const failing = withRetry(async () => {
      attempts += 1;
      throw error;
    });
    await expect(failing).rejects.toMatchObject({ type: 'database-unavailable', status: 503 });
    expect(attempts).toBe(1);
  });

  it('but not when it does not allow one operation: others may be allowed', async () => {
    const error = serverError(13, 'not authorized on shop to execute command { find: "outbox" }');
    expect(isUnavailable(error)).toBe(false);
    const thrown: unknown = await withRetry(() => Promise.reject(error)).catch((failed: unknown) => failed);
    expect(thrown).toBe(error);
    expect(isOutage(thrown)).toBe(false);
  });

  it('when it closes a connection while a command is being written', async () => {
    const error = await writeAfterEnd();
    expect(error).toMatchObject({ code: expect.any(String) });
    expect(isUnavailable(error)).toBe(true);
  });

  it.each([
    new Error('bug'),
    serverError(1, 'a bug of mongod'),
    Object.assign(new Error('no file'), { code: 'ENOENT' }),
    'EPIPE',
    null,
  ])('but not when %p is thrown', (error) => {
    expect(isUnavailable(error)).toBe(false);
  });
});
