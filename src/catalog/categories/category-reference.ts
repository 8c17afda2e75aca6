import { ProblemError } from '../../errors/problem-error.ts';
import type { Category } from './category.ts';
import type { Categories } from './categories.ts';

/**
 * The category that a request body names as `category_id`. It must belong to the product's location.
 * @throws ProblemError `unknown-category`
 */
export async function requireCategory(
  categories: Pick<Categories, 'find'>,
  id: string,
  locationId: string,
): Promise<Category> {
  const category = await categories.find(id);
  if (category?.locationId === locationId) return category;
  throw new ProblemError('unknown-category', {
    detail: `The location ${locationId} has no category with the id ${id}.`,
    errors: [{ detail: 'is not the id of a category of this location', pointer: '#/category_id' }],
  });
}
