import { randomUUID } from 'node:crypto';
import type { components } from '../../../generated/types.ts';
import { ifMatch } from '../../http/conditional.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { nextPageLink } from '../../http/page.ts';
import { toModifiers } from './modifiers.ts';
import type { Product } from './product.ts';
import type { Products } from './products.ts';

type ProductOperations = Pick<OperationHandlers, 'createProduct' | 'listProducts' | 'getProduct' | 'updateProduct'>;

const collectionPath = '/v1/products';

/** The contract's operations on products. */
export function productOperations(products: Products, newId: () => string = randomUUID): ProductOperations {
  return {
    async createProduct({ body, context }) {
      const { location_id, category_id, name, price, tags, modifiers, active } = body;
      const product = await products.create(
        {
          locationId: location_id,
          categoryId: category_id,
          ...{ name, price },
          tags: tags ?? [],
          modifiers: toModifiers(modifiers ?? [], newId),
          active: active ?? true,
        },
        context.resourceId,
      );
      return {
        status: 201,
        headers: { Location: `${collectionPath}/${product.id}`, ETag: entityTag(product) },
        body: represent(product),
      };
    },
    async listProducts({ query: { limit = 20, offset = 0, location_id, category_id } }) {
      const filter = { locationId: location_id, categoryId: category_id };
      const { products: found, total } = await products.list(filter, limit, offset);
      const pagination = { total, limit, offset };
      return {
        status: 200,
        headers: nextPageLink(collectionPath, pagination, found.length, { location_id, category_id }),
        body: { data: found.map(represent), pagination },
      };
    },
    async getProduct({ path }) {
      const product = await products.get(path.id);
      return { status: 200, headers: { ETag: entityTag(product) }, body: represent(product) };
    },
    async updateProduct({ path, headers, body, context }) {
      const { location_id, category_id, name, price, tags, modifiers, active } = body;
      const change = {
        locationId: location_id,
        categoryId: category_id,
        ...{ name, price, tags, active },
        modifiers: modifiers === undefined ? undefined : toModifiers(modifiers, newId),
      };
      const product = await products.update(
        path.id,
        change,
        (present) => ifMatch(headers['If-Match'], entityTag(present)),
        context.traceparent,
      );
      return { status: 200, headers: { ETag: entityTag(product) }, body: represent(product) };
    },
  };
}

/** The entity tag of a product: another one after each change. */
function entityTag({ id, revision }: Product): string {
  return `"${id}.${revision}"`;
}

function represent(product: Product): components['schemas']['Product'] {
  return {
    id: product.id,
    location_id: product.locationId,
    category_id: product.categoryId,
    name: product.name,
    price: product.price,
    currency: product.currency,
    tags: [...product.tags],
    modifiers: product.modifiers.map(({ id, name, price }) => ({ id, name, price })),
    active: product.active,
    created_at: product.createdAt.toISOString(),
    updated_at: product.updatedAt.toISOString(),
  };
}
