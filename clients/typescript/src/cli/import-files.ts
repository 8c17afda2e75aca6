import { ProblemError } from '../errors.ts';
import type { components } from '../generated/types.ts';
import type { PromptGateway } from '../prompt-gateway.ts';
import { inBatches } from '../transfer/batches.ts';
import { NoServiceError } from './read-prompts.ts';
import type { ReadFile } from './prompt-files.ts';

type Schemas = components['schemas'];

/** Something about a file, and its place there as a JSON Pointer in a URI fragment. */
export interface Finding {
  readonly pointer: string;
  readonly detail: string;
}

/** What an import did with a file, or would do. */
export interface Outcome {
  readonly status: string;
  /** The number of the stored version. */
  readonly version?: number | undefined;
  readonly errors: readonly Finding[];
  readonly notes: readonly Finding[];
}

/**
 * Imports files in as many requests as they need. A file that breaks the contract is refused, and the others are sent
 * without it.
 *
 * @returns an outcome for each file, in their order
 * @throws {GatewayError} @throws {NoServiceError}
 */
export async function importFiles(
  gateway: PromptGateway,
  files: readonly ReadFile[],
  options: Omit<Schemas['PromptImport'], 'prompts'>,
): Promise<Outcome[]> {
  const outcomes = new Map<ReadFile, Outcome>();
  for (const batch of inBatches(files)) {
    let left = batch;
    while (left.length > 0) {
      try {
        const prompts = left.map(({ prompt }) => prompt);
        const { results } = await gateway.prompts.import({ prompts, ...options });
        for (const [index, file] of left.entries()) outcomes.set(file, toOutcome(results[index]));
        left = [];
      } catch (error) {
        const mistakes = mistakesOf(error);
        const refused = new Set(left.filter((_, index) => mistakes.has(index)));
        if (refused.size === 0) throw error;
        for (const [index, file] of left.entries()) {
          if (refused.has(file))
            outcomes.set(file, { status: 'refused', errors: mistakes.get(index) ?? [], notes: [] });
        }
        left = left.filter((file) => !refused.has(file));
      }
    }
  }
  return files.map((file) => outcomes.get(file) ?? toOutcome(undefined));
}

/** @throws {NoServiceError} */
function toOutcome(result: Schemas['PromptImportResult']['results'][number] | undefined): Outcome {
  if (result === undefined) throw new NoServiceError('The answer is not that of an import.');
  const { status, version, errors = [], notes = [] } = result;
  return { status, version, errors: errors.map(inFile), notes: notes.map(inFile) };
}

/** The mistakes that a problem lists, by the prompts of the request that they are in. */
function mistakesOf(error: unknown): ReadonlyMap<number, readonly Finding[]> {
  const found = new Map<number, Finding[]>();
  if (!(error instanceof ProblemError)) return found;
  for (const { pointer = '', detail } of error.problem.errors ?? []) {
    const [, index] = inRequest.exec(pointer) ?? [];
    if (index === undefined) continue;
    found.set(Number(index), [...(found.get(Number(index)) ?? []), inFile({ pointer, detail })]);
  }
  return found;
}

const inRequest = /^#\/prompts\/(\d+)/;

function inFile({ pointer, detail }: Finding): Finding {
  return { pointer: pointer.replace(inRequest, '#'), detail };
}
