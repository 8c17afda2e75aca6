import { messageOperations } from '../anthropic/message-operations.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { chatOperations } from '../openai/chat-operations.ts';
import {
  createCompatibleInvocations,
  createCompatiblePlans,
  type CompatibleInvocationsDependencies,
} from './compatible-invocations.ts';
import { embeddingOperations, type EmbeddingDependencies } from '../openai/embedding-operations.ts';
import { modelOperations } from './model-operations.ts';
import { createModels, type ModelsDependencies } from './models.ts';
import { responsesOperations } from '../openai/responses-operations.ts';

/** The operations of the APIs of others. */
export function createCompatibleFeature({
  prompts,
  clock,
  ...dependencies
}: CompatibleInvocationsDependencies &
  Omit<EmbeddingDependencies, 'plans'> &
  ModelsDependencies & { readonly clock: Clock }) {
  const plans = createCompatiblePlans(dependencies);
  const prepare = createCompatibleInvocations(plans, dependencies);
  const models = createModels({ prompts, providers: dependencies.providers });
  return {
    operations: {
      ...modelOperations({ models }),
      ...chatOperations(prepare, clock),
      ...responsesOperations(prepare, clock),
      ...messageOperations({ ...dependencies, prepare, plans }),
      ...embeddingOperations({ ...dependencies, plans }),
    },
  };
}
