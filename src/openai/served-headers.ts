import type { GeneratedEvent } from '../generation/generator.ts';
import type { Plan } from '../generation/plan.ts';

/** Who answers. */
export interface Answering {
  readonly provider: string;
  readonly model: string;
}

interface ServedHeaders {
  readonly 'X-Provider': string;
  readonly 'X-Model': string;
  readonly 'X-Served-Version'?: number;
}

/**
 * The headers of an answer that say what ran.
 *
 * @param first the answer, or the first event of its stream; undefined if that did not come in time
 */
export function servedHeaders({ prompt, targets }: Plan, first: Answering | GeneratedEvent | undefined): ServedHeaders {
  const [selected] = targets;
  const answering = first !== undefined && 'provider' in first ? first : undefined;
  return {
    'X-Provider': answering?.provider ?? selected?.provider.id ?? '',
    'X-Model': answering?.model ?? selected?.request.model ?? '',
    ...(prompt !== undefined && { 'X-Served-Version': prompt.version }),
  };
}
