import type { components } from '../../../generated/types.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import type { Model, Models } from './models.ts';

/** The lists of models of OpenAI and Anthropic. Callers of Anthropic's API send its version. */
export function modelOperations({
  models,
}: {
  readonly models: Models;
}): Pick<OperationHandlers, 'listModels' | 'getModel'> {
  return {
    async listModels({ query, headers, context }) {
      const listed = await models.list(context.principal);
      if (headers['anthropic-version'] === undefined) {
        return { status: 200, body: { object: 'list', data: listed.map(toModel) } };
      }
      context.addHeader('request-id', context.requestId);
      return { status: 200, body: toPage(listed, query) };
    },
    async getModel({ path, headers, context }) {
      const model = await models.get(path.model, context.principal);
      if (headers['anthropic-version'] === undefined) return { status: 200, body: toModel(model) };
      context.addHeader('request-id', context.requestId);
      return { status: 200, body: toAnthropicModel(model) };
    },
  };
}

interface PageQuery {
  readonly limit?: number;
  readonly after_id?: string;
  readonly before_id?: string;
}

/** A page in Anthropic's form. It is empty if the model that it begins after, or ends before, is not in the list. */
function toPage(
  listed: readonly Model[],
  { limit = 20, after_id: after, before_id: before }: PageQuery,
): components['schemas']['AnthropicModelList'] {
  const placeOf = (id: string): number => listed.findIndex((model) => model.id === id);
  // So a caller that reads page by page stops if that model was deleted, and does not get the first page again.
  const start = after === undefined ? 0 : placeOf(after) + 1 || listed.length;
  const end = before === undefined ? listed.length : Math.max(placeOf(before), 0);
  const all = listed.slice(start, end);
  const isBackwards = before !== undefined && after === undefined;
  const page = isBackwards ? all.slice(-limit) : all.slice(0, limit);
  const data = page.map(toAnthropicModel);
  return {
    data,
    has_more: data.length < all.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

function toModel({ id, createdAt, owner }: Model): components['schemas']['CompatibleModel'] {
  const created = createdAt === undefined ? 0 : Math.floor(createdAt.getTime() / 1000);
  return { id, object: 'model', created, owned_by: owner };
}

/** What the SDKs of the API expect beside it is not known here. */
function toAnthropicModel({ id, createdAt }: Model): components['schemas']['AnthropicModel'] {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: (createdAt ?? new Date(0)).toISOString(),
    ...{ capabilities: null, line: null, max_input_tokens: null, max_tokens: null },
    ...{ lifecycle: 'active', deprecated_at: null, retires_at: null },
  };
}
