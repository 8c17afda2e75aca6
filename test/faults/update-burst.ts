import { send } from '../support/send.ts';
import { setTimeout as sleep } from 'node:timers/promises';

/** One update of one prompt: the version in the answer, and the text in the request. */
interface Update {
  readonly version: number;
  readonly text: string;
}

/** One move of the label of a prompt: its number and the version in the answer. */
interface Move {
  readonly sequence: number;
  readonly version: number;
}

/** An event of a prompt, as the feed has it. */
interface PromptEvent {
  readonly type: string;
  readonly data: { readonly version?: number; readonly sequence?: number };
}

/** The knowledge of the writers about one prompt. */
interface Ledger {
  readonly promptId: string;
  /** Answered with 200. */
  readonly acknowledged: Update[];
  /** Moves of its label that were answered. */
  readonly moves: Move[];
  /** Every text that was sent, answered or not. */
  readonly sent: Set<string>;
}

/**
 * The result of a comparison with everything that is stored and announced. Only `acknowledged`, `unanswered` and
 * `deletions` may be above zero.
 */
export interface BurstCounts {
  /** Updates that were answered with 200. */
  acknowledged: number;
  /** Stored updates without an answer, or with a 503. They are allowed, because the caller got no other answer. */
  unanswered: number;
  /**
   * Acknowledged updates that are not stored as sent, or not under the version in the answer; acknowledged moves that
   * the history of the label does not have.
   */
  lost: number;
  /** Numbers between 1 and the latest version, or the latest move, that are missing. */
  missing: number;
  /** Numbers of versions or moves that occur twice, and updates that were stored as two versions. */
  duplicated: number;
  /** Versions with a text that was never sent. */
  phantom: number;
  /** Versions, moves and deletions that the feed does not have. */
  unannounced: number;
  /** Those that it has more than once, and events of what did not happen. */
  overannounced: number;
  /** Prompts that were deleted, or were about to be. */
  deletions: number;
  /** Answers other than 200 and 503. */
  unexpected: number;
}

/** Clients that keep updating a few prompts and moving a label of each, whatever happens to the service. */
export interface UpdateBurst {
  /** The number of acknowledged updates so far. */
  readonly acknowledged: number;
  /** Sends no more, and waits for the requests in progress. */
  pause(): Promise<void>;
  /** Continues at another address after the service has moved. */
  resume(url: string): void;
  /**
   * Reads every version of every prompt from the service at this address, and compares it with the acknowledged
   * updates.
   */
  verify(url: string): Promise<BurstCounts>;
}

export interface BurstOptions {
  readonly url: string;
  readonly prompts: number;
  /** The number of clients for each prompt. Each client sends one update after the other. */
  readonly writers: number;
}

interface StoredVersion {
  readonly version: number;
  readonly messages: readonly { readonly content: string }[];
}

/** What the service has of one prompt. */
interface Stored {
  readonly latest: number;
  readonly versions: readonly StoredVersion[];
  readonly moves: readonly Move[];
  readonly events: readonly PromptEvent[];
}

/** A request counts as unanswered after this time, in milliseconds. */
const patience = 20_000;
/** The feed has everything after this time, in milliseconds. */
const feedPatience = 20_000;

/** Creates the prompts and starts to update them. */
export async function startUpdateBurst({ url, prompts, writers }: BurstOptions): Promise<UpdateBurst> {
  let address = url;
  let running: AbortController | undefined;
  let workers: Promise<void>[] = [];
  const unexpected: string[] = [];
  let sentInAll = 0;

  const saying = (text: string): { role: string; content: string }[] => [{ role: 'user', content: text }];
  const create = async (index: number): Promise<Ledger> => {
    const text = `first text of prompt ${index}`;
    const answer = await send({ url }, 'POST', '/api/v1/prompts', { name: `Burst ${index}`, messages: saying(text) });
    if (answer.status !== 201) throw new Error(`The prompt was not created: ${await answer.text()}`);
    const { id } = (await answer.json()) as { id: string };
    const moved = await send({ url }, 'PUT', `/api/v1/prompts/${id}/labels/production`, { version: 1 });
    if (moved.status !== 201) throw new Error(`The label was not created: ${await moved.text()}`);
    const moves = [(await moved.json()) as Move];
    return { promptId: id, acknowledged: [{ version: 1, text }], moves, sent: new Set([text]) };
  };
  const ledgers = await Promise.all(Array.from({ length: prompts }, (_, index) => create(index)));

  const update = async ({ promptId, acknowledged, sent }: Ledger): Promise<boolean> => {
    const text = `update ${(sentInAll += 1)}`;
    sent.add(text);
    try {
      const limit = AbortSignal.timeout(patience);
      const body = { messages: saying(text) };
      const answer = await send({ url: address }, 'PUT', `/api/v1/prompts/${promptId}`, body, {}, limit);
      const received = await answer.text();
      if (answer.status === 200) acknowledged.push({ version: (JSON.parse(received) as Update).version, text });
      else if (answer.status !== 503) unexpected.push(`${answer.status} ${received}`);
      return answer.status === 200;
    } catch {
      return false; // The service was killed and gives no answer.
    }
  };
  /** Moves the label to another acknowledged version. */
  const move = async ({ promptId, acknowledged, moves }: Ledger): Promise<boolean> => {
    const { version = 1 } = acknowledged[moves.length % acknowledged.length] ?? {};
    try {
      const label = `/api/v1/prompts/${promptId}/labels/production`;
      const limit = AbortSignal.timeout(patience);
      const answer = await send({ url: address }, 'PUT', label, { version }, { 'if-match': '*' }, limit);
      const body = await answer.text();
      if (answer.status === 200) moves.push(JSON.parse(body) as Move);
      else if (answer.status !== 503) unexpected.push(`${answer.status} ${body}`);
      return answer.status === 200;
    } catch {
      return false; // The service was killed and gives no answer.
    }
  };
  /** Prompts that a client has created and tried to delete. */
  const deleted: string[] = [];
  const createAndDelete = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        const limit = AbortSignal.timeout(patience);
        const body = { name: `Short-lived ${deleted.length}`, messages: saying('text') };
        const created = await send({ url: address }, 'POST', '/api/v1/prompts', body, {}, limit);
        const { id } = (await created.json()) as { id?: string };
        if (id !== undefined) {
          deleted.push(id);
          const answer = await send({ url: address }, 'DELETE', `/api/v1/prompts/${id}`, undefined, {}, limit);
          if (![200, 503].includes(answer.status)) unexpected.push(`${answer.status} ${await answer.text()}`);
        }
      } catch {
        // The service was killed and gives no answer.
      }
      await sleep(100);
    }
  };
  const release = async (ledger: Ledger, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) if (!(await move(ledger))) await sleep(20);
  };
  const write = async (ledger: Ledger, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) if (!(await update(ledger))) await sleep(20);
  };
  const resume = (at: string): void => {
    address = at;
    const controller = (running = new AbortController());
    workers = ledgers.flatMap((ledger) => [
      release(ledger, controller.signal),
      ...Array.from({ length: writers }, () => write(ledger, controller.signal)),
    ]);
    workers.push(createAndDelete(controller.signal));
  };
  resume(url);

  const readAll = async (from: string, promptId: string, end: number): Promise<Stored> => {
    const get = async (path: string): Promise<unknown> => {
      const answer = await send({ url: from }, 'GET', path);
      if (answer.status !== 200) throw new Error(`${path} cannot be read: ${await answer.text()}`);
      return answer.json();
    };
    const { version: latest } = (await get(`/api/v1/prompts/${promptId}`)) as StoredVersion;
    const readList = async <Entry>(path: string): Promise<Entry[]> => {
      const entries: Entry[] = [];
      for (let after = ''; ;) {
        const page = await get(`/api/v1/prompts/${promptId}/${path}?limit=100${after}`);
        const { data, pagination } = page as { data: Entry[]; pagination: { next: string | null } };
        entries.push(...data);
        if (pagination.next === null) return entries;
        after = `&after=${pagination.next}`;
      }
    };
    const versions = await readList<StoredVersion>('versions');
    const moves = await readList<Move>('labels/production/history');
    return { latest, versions, moves, events: await readEvents(from, promptId, latest + moves.length, end) };
  };

  /** The events of a prompt, when the feed has as many as there must be. @param end when it is read for the last time */
  const readEvents = async (from: string, promptId: string, wanted: number, end: number): Promise<PromptEvent[]> => {
    for (;;) {
      const events: PromptEvent[] = [];
      for (let after = '', more = true; more;) {
        const path = `/api/v1/events?target_id=${promptId}&limit=100${after}`;
        const answer = await send({ url: from }, 'GET', path);
        if (answer.status !== 200) throw new Error(`the feed cannot be read: ${await answer.text()}`);
        const page = (await answer.json()) as { data: PromptEvent[]; next: string; more: boolean };
        events.push(...page.data);
        after = `&after=${page.next}`;
        ({ more } = page);
      }
      if (events.length >= wanted || performance.now() > end) return events;
      await sleep(200);
    }
  };

  /** Compares deletions with the feed. */
  const compareDeletion = async (from: string, promptId: string, end: number): Promise<Partial<BurstCounts>> => {
    const { status } = await send({ url: from }, 'GET', `/api/v1/prompts/${promptId}`);
    const isGone = status === 404 ? 1 : 0;
    const events = await readEvents(from, promptId, 1 + isGone, end);
    const [versions, deletions] = ['PROMPT_VERSION_CREATED', 'PROMPT_DELETED'].map(
      (type) => events.filter((event) => event.type === type).length,
    ) as [number, number];
    return {
      unannounced: Math.max(0, 1 - versions) + Math.max(0, isGone - deletions),
      overannounced: Math.max(0, versions - 1) + Math.max(0, deletions - isGone),
    };
  };

  return {
    get acknowledged() {
      return ledgers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
    },
    resume,
    async pause() {
      running?.abort();
      await Promise.all(workers);
    },
    async verify(from) {
      for (const answer of unexpected) console.log(`unexpected: ${answer}`);
      const counts = {
        ...{ acknowledged: 0, unanswered: 0, lost: 0, missing: 0, duplicated: 0, phantom: 0 },
        ...{ unannounced: 0, overannounced: 0, unexpected: 0, deletions: deleted.length },
      };
      counts.unexpected = unexpected.length;
      const end = performance.now() + feedPatience;
      for (const ledger of ledgers) add(counts, compare(ledger, await readAll(from, ledger.promptId, end)));
      for (const promptId of deleted) add(counts, await compareDeletion(from, promptId, end));
      return counts;
    },
  };
}

function compare(ledger: Ledger, { latest, versions, moves, events }: Stored): Partial<BurstCounts> {
  const textOf = ({ messages }: StoredVersion): string => messages.map(({ content }) => content).join('\n');
  const byNumber = new Map(versions.map((version) => [version.version, textOf(version)]));
  const texts = new Set(versions.map(textOf));
  const answered = new Set(ledger.acknowledged.map(({ text }) => text));
  const numbers = Array.from({ length: latest }, (_, index) => index + 1);
  const moved = new Map(moves.map(({ sequence, version }) => [sequence, version]));
  const happened = [
    ...versions.map(({ version }) => `PROMPT_VERSION_CREATED ${version}`),
    ...moves.map(({ sequence }) => `PROMPT_LABEL_MOVED ${sequence}`),
  ];
  const announced = new Set(events.map(({ type, data }) => `${type} ${data.version ?? data.sequence}`));
  const lostMoves = ledger.moves.filter(({ sequence, version }) => moved.get(sequence) !== version);
  return {
    acknowledged: ledger.acknowledged.length,
    unanswered: [...texts].filter((text) => ledger.sent.has(text) && !answered.has(text)).length,
    lost: ledger.acknowledged.filter(({ version, text }) => byNumber.get(version) !== text).length + lostMoves.length,
    missing: numbers.filter((number) => !byNumber.has(number)).length + Math.max(0, ...moved.keys()) - moved.size,
    duplicated: versions.length - byNumber.size + (versions.length - texts.size) + (moves.length - moved.size),
    phantom: [...byNumber].filter(([number, text]) => number > latest || !ledger.sent.has(text)).length,
    unannounced: happened.filter((one) => !announced.has(one)).length,
    overannounced: events.length - announced.size + [...announced].filter((one) => !happened.includes(one)).length,
  };
}

function add(sum: BurstCounts, counts: Partial<BurstCounts>): void {
  for (const [name, count] of Object.entries(counts)) sum[name as keyof BurstCounts] += count;
}

/** Whether a comparison found no forbidden result. */
export function isSound({ lost, missing, duplicated, phantom, ...others }: BurstCounts): boolean {
  const { unannounced, overannounced, unexpected } = others;
  return lost + missing + duplicated + phantom + unannounced + overannounced + unexpected === 0;
}
