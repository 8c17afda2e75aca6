import { Readable } from 'node:stream';
import type { operations } from '../../generated/types.ts';
import { ProblemError } from '../errors/problem-error.ts';
import { answerPage } from '../http/list-answer.ts';
import type { OperationHandlers, RequestContext } from '../http/operation.ts';
import { createFairQueue } from '../limits/fair-queue.ts';
import { mayReachPrompt } from '../limits/reach.ts';
import { toInstant } from '../runtime/instants.ts';
import { createTurns } from '../runtime/turns.ts';
import { promptNotFound, type Prompts } from '../prompts/prompts.ts';
import type { InvocationDocument, InvocationFilter } from './invocation.ts';
import { toInvocation } from './invocation-representation.ts';
import type { InvocationStore } from './invocation-store.ts';

type InvocationOperations = Pick<OperationHandlers, 'listInvocations' | 'getInvocation' | 'exportInvocations'>;
type Query = NonNullable<operations['exportInvocations']['parameters']['query']>;

export interface InvocationOperationsDependencies {
  readonly store: Pick<InvocationStore, 'find' | 'list' | 'walk'>;
  readonly prompts: Pick<Prompts, 'get'>;
  /** Stores the records of this process that are not stored yet, so that a caller finds what it has just done. */
  readonly flush: () => Promise<void>;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function invocationOperations({
  store,
  prompts,
  flush,
}: InvocationOperationsDependencies): InvocationOperations {
  const toFilter = async (query: Query, { principal: { reach } }: RequestContext): Promise<InvocationFilter> => {
    const { since, until, prompt, key_id: keyId, version, label, provider, model, status, problem, tag } = query;
    // A prompt that was deleted still has its records.
    const promptId = prompt === undefined || uuid.test(prompt) ? prompt : (await prompts.get(prompt, reach)).id;
    if (promptId !== undefined && !mayReachPrompt(reach, promptId)) throw promptNotFound(promptId);
    return {
      since: toInstant(since),
      until: toInstant(until),
      promptId,
      promptIds: promptId === undefined ? reach?.prompts : undefined,
      ...{ keyId, version, label, provider, model, status, problem, tag },
    };
  };
  /** Exports read one after the other and write in turns: they are long, and nobody waits for their end. */
  const reading = createFairQueue({ places: 1 });
  const turns = createTurns();
  return {
    listInvocations: (input) =>
      answerPage(
        input,
        async () => {
          const [filter] = await Promise.all([toFilter(input.query, input.context), flush()]);
          return store.list(filter);
        },
        toInvocation,
      ),
    async getInvocation({ path: { id }, context }) {
      await flush();
      const found = await store.find(id);
      if (found === undefined || !mayReachPrompt(context.principal.reach, found.prompt_id ?? '')) {
        throw new ProblemError('invocation-not-found', {
          detail: 'The invocation log has no record with this id.',
        });
      }
      return { status: 200, body: toInvocation(found) };
    },
    async exportInvocations({ query: { after_id: after, ...query }, context }) {
      const [filter] = await Promise.all([toFilter(query, context), flush()]);
      const batches = store.walk(filter, after)[Symbol.asyncIterator]();
      const read = async (): Promise<IteratorResult<InvocationDocument[]>> => {
        const leave = await reading.enter({ key: context.principal.keyId, signal: context.signal });
        try {
          return await batches.next();
        } finally {
          leave();
        }
      };
      // Read before the answer begins, so that an unavailable database is a problem and not a cut connection.
      const first = await read();
      const lines = async function* (): AsyncGenerator<string> {
        for (let next = first; next.done !== true; next = await read()) {
          let text = '';
          for (const document of next.value) {
            await turns();
            text += `${JSON.stringify(toInvocation(document))}\n`;
          }
          yield text;
        }
      };
      return { status: 200, stream: { mediaType: 'application/jsonl', content: Readable.from(lines()) } };
    },
  };
}
