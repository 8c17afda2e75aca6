import type { components } from '../../../generated/types.ts';
import { ifMatch } from '../../http/conditional.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { nextPageLink } from '../../http/page.ts';
import type { Category } from './category.ts';
import type { Categories } from './categories.ts';

type CategoryOperations = Pick<
  OperationHandlers,
  'createCategory' | 'listCategories' | 'getCategory' | 'updateCategory'
>;

const collectionPath = '/v1/categories';

/** The contract's operations on categories. */
export function categoryOperations(categories: Categories): CategoryOperations {
  return {
    async createCategory({ body: { location_id, name }, context }) {
      const id = `cat_${context.resourceId.replaceAll('-', '')}`;
      const category = await categories.create({ locationId: location_id, name }, id);
      return {
        status: 201,
        headers: { Location: `${collectionPath}/${category.id}`, ETag: entityTag(category) },
        body: represent(category),
      };
    },
    async listCategories({ query: { limit = 20, offset = 0, location_id } }) {
      const { categories: found, total } = await categories.list(location_id, limit, offset);
      const pagination = { total, limit, offset };
      return {
        status: 200,
        headers: nextPageLink(collectionPath, pagination, found.length, { location_id }),
        body: { data: found.map(represent), pagination },
      };
    },
    async getCategory({ path }) {
      const category = await categories.get(path.id);
      return { status: 200, headers: { ETag: entityTag(category) }, body: represent(category) };
    },
    async updateCategory({ path, headers, body: { location_id, name }, context }) {
      const category = await categories.update(
        path.id,
        { locationId: location_id, name },
        (present) => ifMatch(headers['If-Match'], entityTag(present)),
        context.traceparent,
      );
      return { status: 200, headers: { ETag: entityTag(category) }, body: represent(category) };
    },
  };
}

/** The entity tag of a category: another one after each change. */
function entityTag({ id, revision }: Category): string {
  return `"${id}.${revision}"`;
}

function represent(category: Category): components['schemas']['Category'] {
  return {
    id: category.id,
    location_id: category.locationId,
    name: category.name,
    created_at: category.createdAt.toISOString(),
    updated_at: category.updatedAt.toISOString(),
  };
}
