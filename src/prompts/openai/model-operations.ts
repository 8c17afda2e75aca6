import type { components } from '../../../generated/types.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import type { Model, Models } from './models.ts';

/** OpenAI's list of models. */
export function modelOperations({
  models,
}: {
  readonly models: Models;
}): Pick<OperationHandlers, 'listModels' | 'getModel'> {
  return {
    async listModels({ context }) {
      const listed = await models.list(context.principal);
      return { status: 200, body: { object: 'list', data: listed.map(toModel) } };
    },
    async getModel({ path, context }) {
      return { status: 200, body: toModel(await models.get(path.model, context.principal)) };
    },
  };
}

function toModel({ id, createdAt, owner }: Model): components['schemas']['CompatibleModel'] {
  const created = createdAt === undefined ? 0 : Math.floor(createdAt.getTime() / 1000);
  return { id, object: 'model', created, owned_by: owner };
}
