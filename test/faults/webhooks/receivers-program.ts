/**
 * A process with receivers that do as they were told, so that their trouble is not the test's own. The first argument
 * is a JSON object of reactions by name; the parent gets the URLs, and an account whenever it sends anything.
 */
import { startReceiver, type Receiver, type Reaction } from '../../support/receiver.ts';

/** What a receiver was asked, and how much of its floods was taken. */
export interface ReceiverAccount {
  /** When each request had arrived, in milliseconds since the epoch. */
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
