import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Reaction } from '../../support/receiver.ts';
import type { ReceiverAccount, ReceiverMessage } from './receivers-program.ts';

/** Receivers in a process of their own. */
export interface ReceiversProcess {
  readonly urls: Readonly<Record<string, string>>;
  accounts(): Promise<Readonly<Record<string, ReceiverAccount>>>;
  stop(): Promise<void>;
}

export async function startReceivers(reactions: Readonly<Record<string, Reaction>>): Promise<ReceiversProcess> {
  const child = fork(path.join(import.meta.dirname, 'receivers-program.ts'), [JSON.stringify(reactions)]);
  const next = async (): Promise<ReceiverMessage> => ((await once(child, 'message')) as [ReceiverMessage])[0];
  const first = await next();
  return {
    urls: 'urls' in first ? first.urls : {},
    async accounts() {
      const answer = next();
      child.send('accounts');
      const message = await answer;
      return 'accounts' in message ? message.accounts : {};
    },
    async stop() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
