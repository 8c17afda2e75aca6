/** Results of an evaluation, read line by line: all of them can be larger than memory. */
import type { components } from '../generated/types.ts';
import type { PromptGateway } from '../prompt-gateway.ts';

type Schemas = components['schemas'];

/** What is used of the result of a side. */
export interface SideResult {
  /** Absent for an error. */
  readonly passed?: boolean;
  readonly failure?: string;
  readonly latency_ms?: number;
  readonly checks?: readonly { readonly type: string; readonly pass: boolean; readonly reason?: string }[];
  readonly error?: Pick<Schemas['TestError'], 'detail'>;
}

/** What is used of a line. A case whose content was erased was not asked. */
export interface CaseResult {
  readonly case: string;
  readonly outcome: string;
  readonly candidate?: SideResult;
  readonly baseline?: SideResult;
}

/** The results cannot be read. */
export class ResultsError extends Error {}

/** The key may not see cases of data sets. */
export class HiddenResultsError extends ResultsError {}

/** @throws {ResultsError} */
export async function* readResults(
  gateway: PromptGateway,
  id: string,
  outcome?: 'regressed' | 'failed',
): AsyncGenerator<CaseResult> {
  const { data, response } = await gateway.raw
    .GET('/api/v1/evaluations/{id}/results', {
      params: { path: { id }, query: outcome === undefined ? {} : { outcome } },
      parseAs: 'stream',
    })
    .catch(cannotRead);
  if (response.status === 403) throw new HiddenResultsError('The key may not read cases of data sets.');
  if (data === undefined || data === null)
    throw new ResultsError(`The service answers with status ${response.status}.`);
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const bytes of data) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line) as CaseResult;
    }
  } catch (error) {
    cannotRead(error);
  }
}

function cannotRead(cause: unknown): never {
  throw new ResultsError('The results cannot be read: the connection ended.', { cause });
}

/** Why a side did not pass, in sentences. */
export function reasonsOf({ error, failure, checks = [] }: SideResult = {}): string[] {
  if (failure !== undefined) return [`${failures[failure] ?? failure}.`];
  if (error !== undefined) return [error.detail];
  return checks.filter(({ pass }) => !pass).map(({ type, reason }) => reason ?? `${type} does not hold.`);
}

const failures: Readonly<Record<string, string>> = {
  'broken-format': 'The answer breaks its format',
  cut: 'The answer is cut by its length',
  filtered: 'The answer is filtered',
  refused: 'The provider refuses the request',
};
