import { randomBytes } from 'node:crypto';
import { AnswerError, ConnectionError, systemCode, TimeoutError } from '../errors.ts';
import type { PromptGateway } from '../prompt-gateway.ts';
import { signForTest } from '../webhooks/sign-for-test.ts';
import type { EvaluateWorld } from './evaluate.ts';
import { escapeInvisible } from './quote.ts';

export interface ListenOptions {
  /** Where the events are sent. */
  readonly target: URL;
  /** All if left out. */
  readonly types: readonly string[] | undefined;
  /** A cursor, or `now`. */
  readonly after: string;
  /** A new one if left out. */
  readonly secret: string | undefined;
}

const pollMs = 1_000;
const longestPauseMs = 30_000;
/** As long as the service waits for a receiver. */
const answerMs = 15_000;

/**
 * Sends the events of the feed to an address, signed as the service signs them, and prints how each was answered, until
 * it is interrupted. Each event is sent once. The service may be away in between.
 * @throws {AnswerError} if the service refuses to show the feed
 */
export async function listen(
  gateway: PromptGateway,
  { target, types, after, secret = newSecret() }: ListenOptions,
  { write, writeError, interruption }: EvaluateWorld,
): Promise<void> {
  const signal = interruption?.() ?? new AbortController().signal;
  const filter = types === undefined ? {} : { type: types.join(',') };
  let cursor = after;
  let pause = pollMs;
  write(`Sends events to ${target.href}, signed with the secret ${secret}\n`);
  while (!signal.aborted) {
    let more = false;
    try {
      const page = await gateway.events.list({ after: cursor, limit: 1, ...filter }, { signal });
      for (const event of page.data) write(await forward(event, target, secret, signal));
      if (signal.aborted) break;
      ({ next: cursor, more } = page);
      pause = pollMs;
    } catch (error) {
      if (signal.aborted) break;
      const isAway = error instanceof ConnectionError || error instanceof TimeoutError;
      if (!isAway && !(error instanceof AnswerError && (error.status >= 500 || error.status === 429))) throw error;
      if (pause === pollMs) writeError('The service does not answer; trying again.\n');
      pause = Math.min(2 * pause, longestPauseMs);
    }
    if (!more) await elapsed(pause, signal);
  }
  write(`Go on with --after ${cursor}\n`);
}

/** @returns the line that says how the event was answered */
async function forward(
  event: { readonly type: unknown; readonly id: string },
  target: URL,
  secret: string,
  signal: AbortSignal,
): Promise<string> {
  const { body, headers } = await signForTest(JSON.stringify(event), secret);
  const started = performance.now();
  const outcome = await fetch(target, {
    ...{ method: 'POST', body, headers, redirect: 'manual' },
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
  }).then(
    async (answer) => {
      await answer.body?.cancel();
      return String(answer.status);
    },
    (error: unknown) => (isTimeout(error) ? `no answer within ${answerMs / 1_000} s` : (systemCode(error) ?? 'failed')),
  );
  const time = new Date().toISOString().slice(11, 19);
  const name = escapeInvisible(`${String(event.type)} ${event.id}`);
  return `${time} ${name} ${outcome} ${Math.round(performance.now() - started)} ms\n`;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

async function elapsed(milliseconds: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
