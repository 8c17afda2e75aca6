import { once } from 'node:events';
import { request } from 'node:http';
import type { TestService } from './service.ts';

export interface FollowedEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string | undefined;
}

export interface FollowedStream {
  /** The next event, or position without an event. */
  next(): Promise<FollowedEvent>;
  readonly ended: Promise<unknown>;
  close(): void;
}

/** Reads a stream of Server-Sent Events that does not end by itself. */
export function followEvents(
  { url, adminKey }: Pick<TestService, 'url' | 'adminKey'>,
  path: string,
  headers: Record<string, string> = {},
): FollowedStream {
  const sent = request(`${url}${path}`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${adminKey}`, ...headers },
  });
  const read = async function* (): AsyncGenerator<FollowedEvent> {
    const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer> & { statusCode: number }];
    if (response.statusCode !== 200) throw new Error(`The stream was answered with ${response.statusCode}.`);
    let text = '';
    for await (const chunk of response) {
      text += chunk.toString();
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const lines = text.slice(0, end).split('\n');
        text = text.slice(end + 2);
        if (lines.every((line) => line.startsWith(':'))) continue;
        const field = (name: string): string | undefined =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        yield { id: field('id'), event: field('event'), data: field('data') };
      }
    }
  };
  const events = read();
  const ended = new Promise((resolve) => sent.once('close', resolve));
  sent.on('error', () => undefined);
  sent.end();
  return {
    async next() {
      const { value, done } = await events.next();
      if (done === true) throw new Error('The stream has ended.');
      return value as FollowedEvent;
    },
    ended,
    close() {
      sent.destroy();
    },
  };
}
