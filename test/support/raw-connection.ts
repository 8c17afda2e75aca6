import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One answer as it was received. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A connection on which a test can send any bytes. */
export interface RawConnection {
  readonly socket: Socket;
  /** True when both sides have ended. */
  readonly closed: Promise<void>;
  send(bytes: string): void;
  /**
   * Waits for this number of complete answers, counted from the first one on the connection. Not for answers to HEAD.
   */
  answers(count: number): Promise<RawAnswer[]>;
  /** Everything that arrived until the service closed the connection. */
  rest(): Promise<string>;
}

/** @param url of the service */
export function openConnection(url: string): RawConnection {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: string[] = [];
  const complete: RawAnswer[] = [];
  let rest = '';
  let needed = 0;
  socket.setEncoding('latin1');
  socket.on('error', () => undefined);
  socket.on('data', (text: string) => {
    chunks.push(text);
    rest += text;
    while (rest.length >= needed) {
      const { answer, length } = parse(rest);
      if (answer === undefined) {
        // A long answer arrives in thousands of chunks. It is parsed again only if it can be complete.
        needed = length ?? rest.length + 1;
        return;
      }
      complete.push(answer);
      rest = rest.slice(length);
      needed = 0;
    }
  });
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      resolve();
    });
  });
  return {
    socket,
    closed,
    send: (bytes) => void socket.write(bytes, 'latin1'),
    async answers(count) {
      while (complete.length < count) {
        if (socket.destroyed) throw new Error(`closed after ${complete.length} answers: ${rest.slice(-500)}`);
        await Promise.race([once(socket, 'data'), closed]);
      }
      return complete;
    },
    async rest() {
      await closed;
      return chunks.join('');
    },
  };
}

/** The first answer in a text, and its length. Only the length if just the head is complete. */
function parse(text: string): { answer?: RawAnswer; length?: number } {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return {};
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const length = end + 4 + (status < 200 ? 0 : Number(headers['content-length'] ?? 0));
  return text.length < length ? { length } : { answer: { status, headers, body: text.slice(end + 4, length) }, length };
}
