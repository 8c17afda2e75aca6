/** A receiver in its own thread that answers every request with an endless head. Its data is the kind of head. */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export type EndlessKind = 'status-line' | 'headers' | 'informational';

const pieces: Readonly<Record<EndlessKind, { readonly begin: string; readonly repeated: string }>> = {
  'status-line': { begin: 'HTTP/1.1 200 ', repeated: 'x'.repeat(65_536) },
  headers: { begin: 'HTTP/1.1 200 OK\r\nX-Blank:', repeated: ' '.repeat(65_536) },
  informational: { begin: '', repeated: 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2_000) },
};

if (parentPort !== null) {
  const { begin, repeated } = pieces[workerData as EndlessKind];
  const piece = Buffer.from(repeated, 'latin1');
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      const flood = (): void => {
        if (!socket.destroyed) socket.write(piece, flood);
      };
      socket.write(begin, 'latin1', flood);
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));
}
