import { requireUnchanged } from '../../../base/editing/read-only-fields.ts';
import { ifMatch, revisionTag } from '../../../http/conditional.ts';
import { locationsInReach } from '../../../base/limits/reach.ts';
import type { OperationHandlers } from '../../../http/operation.ts';
import { answerPage } from '../../../http/list-answer.ts';
import { toInstant } from '../../../base/runtime/instants.ts';
import { requireUniqueIds } from '../unique-ids.ts';
import { productFields, type Modifier, type ModifierGroup } from './product.ts';
import type { Products } from './products.ts';
import { systemRandom, type Random } from '../../../base/runtime/random.ts';

type ProductOperations = Pick<OperationHandlers, 'createProduct' | 'listProducts' | 'getProduct' | 'updateProduct'>;

const collectionPath = '/v1/products';

export function productOperations(products: Products, random: Random = systemRandom): ProductOperations {
  return {
    async createProduct({ body, context }) {
      const sent = productFields.readNew({
        ...body,
        modifiers: toModifiers(body.modifiers ?? [], random.uuid),
        modifier_groups: toGroups(body.modifier_groups, random.uuid),
      });
      const product = await products.create(sent, context.resourceId, context);
      return {
        status: 201,
        headers: { Location: `${collectionPath}/${product.id}`, ETag: revisionTag(product) },
        body: productFields.show(product),
      };
    },
    listProducts(input) {
      const { location_id: locationId, category_id: categoryId, archived = 'exclude', updated_since } = input.query;
      const locationIds = locationsInReach(input.context.principal.reach, locationId);
      const filter = { locationIds, categoryId, archived, updatedSince: toInstant(updated_since) };
      return answerPage(input, () => products.list(filter), productFields.show);
    },
    async getProduct({ path }) {
      const product = await products.get(path.id);
      return { status: 200, headers: { ETag: revisionTag(product) }, body: productFields.show(product) };
    },
    async updateProduct({ path, headers, body, context }) {
      const modifiers = body.modifiers === undefined ? undefined : toModifiers(body.modifiers, random.uuid);
      const product = await products.update(
        path.id,
        productFields.readChange({ ...body, modifiers, modifier_groups: toGroups(body.modifier_groups, random.uuid) }),
        (present) =>
          ifMatch(headers['If-Match'], revisionTag(present)) &&
          requireUnchanged(productFields.others(body), productFields.show(present)),
        context,
      );
      return { status: 200, headers: { ETag: revisionTag(product) }, body: productFields.show(product) };
    },
  };
}

/** Modifiers as a caller sends them. */
type SentModifiers = readonly { readonly id?: string; readonly name: string; readonly price: number }[];

/**
 * Gives ids to modifiers without one.
 * @throws ProblemError `invalid-request` when two modifiers have the same id
 */
function toModifiers(sent: SentModifiers, newId: () => string): Modifier[] {
  const modifiers = withIds(sent, newId);
  requireUniqueIds(modifiers.map(({ id }, index) => ({ id, pointer: `#/modifiers/${index}/id` })));
  return modifiers;
}

function withIds(sent: SentModifiers, newId: () => string): Modifier[] {
  return sent.map(({ id = newId(), name, price }) => ({ id, name, price }));
}

/** Gives ids to the modifiers of groups without one. */
function toGroups(
  sent: readonly (Omit<ModifierGroup, 'modifiers'> & { readonly modifiers: SentModifiers })[] | undefined,
  newId: () => string,
): ModifierGroup[] | undefined {
  return sent?.map(({ name, min, max, modifiers }) => ({ name, min, max, modifiers: withIds(modifiers, newId) }));
}
