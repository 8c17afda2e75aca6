import { finishOf } from '../../models/language-model.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { readTags } from '../../accounting/invocations/tags.ts';
import { defined } from '../../base/runtime/objects.ts';
import type { Turns } from '../../base/runtime/turns.ts';
import { atOwnPlaces } from '../generation/own-places.ts';
import type { Planner } from '../generation/planner.ts';
import type { PrepareInvocation } from '../generation/prepare-invocation.ts';
import { embeddingAnswer } from './embedding-representation.ts';
import type { CompatiblePlans } from '../compatible/compatible-invocations.ts';
import { modelNotFound } from '../compatible/model-name.ts';
import { withoutNulls } from '../compatible/without-nulls.ts';

export interface EmbeddingDependencies {
  readonly planner: Pick<Planner, 'embed'>;
  readonly plans: Pick<CompatiblePlans, 'targetOf'>;
  readonly prepare: PrepareInvocation;
  /** For the work on large answers. */
  readonly turns: Turns;
  /** Deadline of all calls to providers, in milliseconds. */
  readonly timeoutMs: number;
}

/** OpenAI's embeddings. */
export function embeddingOperations({
  planner,
  plans,
  prepare,
  turns,
  timeoutMs,
}: EmbeddingDependencies): Pick<OperationHandlers, 'createEmbedding'> {
  return {
    async createEmbedding({ body, headers: { 'X-Tags': tags }, context }) {
      const { principal } = context;
      const { model, input, encoding_format: encodingFormat, dimensions, user } = withoutNulls(body);
      const invocation = await prepare(
        context,
        async (note) => {
          const target = plans.targetOf({ model }, principal);
          if ('prompt' in target) throw modelNotFound('A prompt has no embeddings.', 'must be <provider>/<model>');
          note(target.model);
          const embedding = { input, ...defined({ encodingFormat, dimensions, user }) };
          const { reach } = principal;
          return await planner.embed({ ...target.model, embedding, reach }).catch((error: unknown) => {
            throw atOwnPlaces(error, [[/^#\/provider$/, '#/model']]);
          });
        },
        { timeoutMs, operation: 'embedding', isStreamed: false, tags: readTags(principal.tags, tags) },
      );
      const { generated } = await finishOf(invocation.answer(context.signal));
      const { provider, model: answering } = generated;
      const headers = { 'X-Invocation-Id': invocation.id, 'X-Provider': provider, 'X-Model': answering };
      return { status: 200, headers, ...(await embeddingAnswer(generated, encodingFormat, turns)) };
    },
  };
}
