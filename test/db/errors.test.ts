import { once } from 'node:events';
import { createServer, connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { isUnavailable } from '../../src/db/errors.ts';

/** What a socket says when it is written to after the other side has ended it. */
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

describe('a database is unavailable', () => {
  it('when it closes a connection just as a command is written to it', async () => {
    const error = await writeAfterEnd();
    expect(error).toMatchObject({ code: expect.any(String) });
    expect(isUnavailable(error)).toBe(true);
  });

  it.each([new Error('bug'), Object.assign(new Error('no file'), { code: 'ENOENT' }), 'EPIPE', null])(
    'but not when %p is thrown',
    (error) => {
      expect(isUnavailable(error)).toBe(false);
    },
  );
});
