import { finishOf } from '../../models/language-model.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { readTags } from '../../accounting/invocations/tags.ts';
import { defined } from '../../base/runtime/objects.ts';
import type { Reach } from '../../base/limits/reach.ts';
import type { Turns } from '../../base/runtime/turns.ts';
import { listedModels, type ProviderRegistry } from '../../models/provider.ts';
import { withinReach } from '../../models/within-reach.ts';
import { atOwnPlaces } from '../generation/own-places.ts';
import type { Planner } from '../generation/planner.ts';
import type { PrepareInvocation } from '../generation/prepare-invocation.ts';
import { embeddingAnswer } from './embedding-representation.ts';
import { modelNotFound, parseModelName } from './model-name.ts';
import { withoutNulls } from './without-nulls.ts';

export interface EmbeddingDependencies {
  readonly planner: Pick<Planner, 'embed'>;
  readonly providers: Pick<ProviderRegistry, 'get' | 'list'>;
  readonly prepare: PrepareInvocation;
  /** For the work on large answers. */
  readonly turns: Turns;
  /** Deadline of all calls to providers, in milliseconds. */
  readonly timeoutMs: number;
}

/** OpenAI's embeddings. */
export function embeddingOperations({
  planner,
  providers,
  prepare,
  turns,
  timeoutMs,
}: EmbeddingDependencies): Pick<OperationHandlers, 'createEmbedding'> {
  return {
    async createEmbedding({ body, headers: { 'X-Tags': tags }, context }) {
      const { reach, tags: ownTags } = context.principal;
      const { model, input, encoding_format: encodingFormat, dimensions, user } = withoutNulls(body);
      const invocation = await prepare(
        context,
        async (note) => {
          const target = targetOf(model, providers, reach);
          note(target);
          const embedding = { input, ...defined({ encodingFormat, dimensions, user }) };
          return await planner.embed({ ...target, embedding, reach }).catch((error: unknown) => {
            throw atOwnPlaces(error, [[/^#\/provider$/, '#/model']]);
          });
        },
        { timeoutMs, operation: 'embedding', isStreamed: false, tags: readTags(ownTags, tags) },
      );
      const { generated } = await finishOf(invocation.answer(context.signal));
      const { provider, model: answering } = generated;
      const headers = { 'X-Invocation-Id': invocation.id, 'X-Provider': provider, 'X-Model': answering };
      return { status: 200, headers, ...(await embeddingAnswer(generated, encodingFormat, turns)) };
    },
  };
}

/** @throws {ProblemError} model-not-found */
function targetOf(
  name: string,
  providers: Pick<ProviderRegistry, 'get' | 'list'>,
  reach: Reach | undefined,
): { readonly provider: string; readonly model: string } {
  const list = (): ReturnType<ProviderRegistry['list']> =>
    withinReach(providers.list(), reach).map((one) => ({ ...one, models: listedModels(one) }));
  const target = parseModelName(name, { list });
  if ('prompt' in target) throw modelNotFound('A prompt has no embeddings.', 'must be <provider>/<model>');
  if (providers.get(target.provider) !== undefined) return target;
  throw modelNotFound(`There is no provider ${JSON.stringify(target.provider)}.`, 'names no provider of this service');
}
