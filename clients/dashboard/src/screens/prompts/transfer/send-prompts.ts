import { BadRequestError, type Schemas } from 'prompt-gateway-client';
import { inBatches } from 'prompt-gateway-client/transfer';
import { gateway } from '../../../app/gateway.ts';
import type { ReadPrompt } from './read-files.ts';

type Result = Schemas['PromptImportResult']['results'][number];

/** What became of a prompt, or would. */
export interface Outcome {
  readonly status: Result['status'];
  readonly id?: string | undefined;
  /** Why it is refused, or what is not as it was sent. The place is below the prompt. */
  readonly findings: readonly { readonly place: string; readonly detail: string }[];
}

/** By slug. */
export type Outcomes = ReadonlyMap<string, Outcome>;

/** How prompts are imported. */
export interface SendOptions {
  readonly conflicts: NonNullable<Schemas['PromptImport']['conflicts']>;
  readonly setsLabels: boolean;
  readonly isDryRun: boolean;
  readonly signal?: AbortSignal;
  /** Called after each request, with what became of all prompts so far. */
  readonly onProgress: (outcomes: Outcomes) => void;
}

/** Imports prompts, in as many requests as they need. Every request can be repeated: what is stored does not change. */
export async function sendPrompts(prompts: readonly ReadPrompt[], options: SendOptions): Promise<Outcomes> {
  let outcomes: Outcomes = new Map();
  for (const batch of inBatches(prompts)) {
    outcomes = new Map([...outcomes, ...(await sendBatch(batch, options))]);
    options.onProgress(outcomes);
  }
  return outcomes;
}

/** In a dry run, what the contract does not allow is refused by prompt; the service refuses the whole request. */
async function sendBatch(batch: readonly ReadPrompt[], options: SendOptions): Promise<Outcomes> {
  const { conflicts, setsLabels, isDryRun, signal } = options;
  const outcomes = new Map<string, Outcome>();
  let left = batch;
  while (left.length > 0) {
    const prompts = left.map(({ prompt: { labels, ...prompt } }) =>
      setsLabels && labels !== undefined ? { ...prompt, labels } : prompt,
    );
    try {
      const body = { prompts, conflicts, dry_run: isDryRun };
      const { results } = await gateway.prompts.import(body, signal === undefined ? {} : { signal });
      for (const { slug, status, id, errors = [], notes = [] } of results) {
        outcomes.set(slug, { status, id, findings: [...errors, ...notes].map(toFinding) });
      }
      break;
    } catch (error) {
      if (!isDryRun || !(error instanceof BadRequestError)) throw error;
      const mistakes = Map.groupBy(error.problem.errors ?? [], ({ pointer }) => indexIn(pointer));
      mistakes.delete(undefined);
      if (mistakes.size === 0) throw error;
      for (const [index = 0, found] of mistakes) {
        const slug = left[index]?.prompt.slug;
        if (slug !== undefined) outcomes.set(slug, { status: 'refused', findings: found.map(toFinding) });
      }
      left = left.filter((_, index) => !mistakes.has(index));
    }
  }
  return outcomes;
}

const place = /^#\/prompts\/(\d+)\/?/;

function indexIn(pointer = ''): number | undefined {
  const index = place.exec(pointer)?.[1];
  return index === undefined ? undefined : Number(index);
}

function toFinding({ detail, pointer = '' }: { detail: string; pointer?: string }): Outcome['findings'][number] {
  return { place: pointer.replace(place, ''), detail };
}
