/**
 * A process with receivers that react as the test says, so that they do not slow down the test itself. The first
 * argument is a JSON object of reactions by name. The parent gets the URLs, and a report whenever it sends a message.
 */
import { startReceiver, type Receiver, type Reaction } from '../../support/receiver.ts';

/** The requests that a receiver got, and the bytes of its floods that were read. */
export interface ReceiverAccount {
  /** The time when each request had arrived, in milliseconds since the epoch. */
  readonly requestedAt: readonly number[];
  readonly floodedBytes: number;
}

export type ReceiverMessage =
  | { readonly urls: Readonly<Record<string, string>> }
  | { readonly accounts: Readonly<Record<string, ReceiverAccount>> };

if (import.meta.main) {
  const reactions = JSON.parse(process.argv[2] ?? '{}') as Readonly<Record<string, Reaction>>;
  const receivers = new Map<string, Receiver>();
  for (const [name, reaction] of Object.entries(reactions)) {
    const receiver = await startReceiver();
    receiver.always(reaction);
    receivers.set(name, receiver);
  }
  const tell = (message: ReceiverMessage): void => void process.send?.(message);
  process.on('message', () => {
    const accounts = [...receivers].map(([name, { requests, floodedBytes }]): [string, ReceiverAccount] => [
      name,
      { requestedAt: requests.map(({ at }) => at), floodedBytes },
    ]);
    tell({ accounts: Object.fromEntries(accounts) });
  });
  process.on('disconnect', () => process.exit(0));
  tell({ urls: Object.fromEntries([...receivers].map(([name, { url }]) => [name, url])) });
}
