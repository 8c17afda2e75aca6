import { requireUnchanged } from '../../../base/editing/read-only-fields.ts';
import { ifMatch, revisionTag } from '../../../http/conditional.ts';
import { locationsInReach } from '../../../base/limits/reach.ts';
import type { OperationHandlers } from '../../../http/operation.ts';
import { answerPage } from '../../../http/list-answer.ts';
import { toInstant } from '../../../base/runtime/instants.ts';
import { categoryFields } from './category.ts';
import type { Categories } from './categories.ts';

type CategoryOperations = Pick<
  OperationHandlers,
  'createCategory' | 'listCategories' | 'getCategory' | 'updateCategory'
>;

const collectionPath = '/v1/categories';

export function categoryOperations(categories: Categories): CategoryOperations {
  return {
    async createCategory({ body, context }) {
      const id = `cat_${context.resourceId.replaceAll('-', '')}`;
      const category = await categories.create(categoryFields.readNew(body), id, context);
      return {
        status: 201,
        headers: { Location: `${collectionPath}/${category.id}`, ETag: revisionTag(category) },
        body: categoryFields.show(category),
      };
    },
    listCategories(input) {
      const { location_id: locationId, archived = 'exclude', updated_since } = input.query;
      const locationIds = locationsInReach(input.context.principal.reach, locationId);
      const filter = { locationIds, archived, updatedSince: toInstant(updated_since) };
      return answerPage(input, () => categories.list(filter), categoryFields.show);
    },
    async getCategory({ path }) {
      const category = await categories.get(path.id);
      return { status: 200, headers: { ETag: revisionTag(category) }, body: categoryFields.show(category) };
    },
    async updateCategory({ path, headers, body, context }) {
      const category = await categories.update(
        path.id,
        categoryFields.readChange(body),
        (present) =>
          ifMatch(headers['If-Match'], revisionTag(present)) &&
          requireUnchanged(categoryFields.others(body), categoryFields.show(present)),
        context,
      );
      return { status: 200, headers: { ETag: revisionTag(category) }, body: categoryFields.show(category) };
    },
  };
}
