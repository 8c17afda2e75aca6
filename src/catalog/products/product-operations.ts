import { randomUUID } from 'node:crypto';
import { ifMatch } from '../../http/conditional.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { nextPageLink } from '../../http/page.ts';
import { toModifiers } from './modifiers.ts';
import { productFields, type Product } from './product.ts';
import type { Products } from './products.ts';

type ProductOperations = Pick<OperationHandlers, 'createProduct' | 'listProducts' | 'getProduct' | 'updateProduct'>;

const collectionPath = '/v1/products';

/** The contract's operations on products. */
export function productOperations(products: Products, newId: () => string = randomUUID): ProductOperations {
  return {
    async createProduct({ body, context }) {
      const sent = productFields.readNew({ ...body, modifiers: toModifiers(body.modifiers ?? [], newId) });
      const product = await products.create(sent, context.resourceId);
      return {
        status: 201,
        headers: { Location: `${collectionPath}/${product.id}`, ETag: entityTag(product) },
        body: productFields.show(product),
      };
    },
    async listProducts({ query: { limit = 20, offset = 0, location_id, category_id } }) {
      const filter = { locationId: location_id, categoryId: category_id };
      const { products: found, total } = await products.list(filter, limit, offset);
      const pagination = { total, limit, offset };
      return {
        status: 200,
        headers: nextPageLink(collectionPath, pagination, found.length, { location_id, category_id }),
        body: { data: found.map(productFields.show), pagination },
      };
    },
    async getProduct({ path }) {
      const product = await products.get(path.id);
      return { status: 200, headers: { ETag: entityTag(product) }, body: productFields.show(product) };
    },
    async updateProduct({ path, headers, body, context }) {
      const modifiers = body.modifiers === undefined ? undefined : toModifiers(body.modifiers, newId);
      const product = await products.update(
        path.id,
        { ...productFields.readChange({ ...body, modifiers }), locationId: body.location_id },
        (present) => ifMatch(headers['If-Match'], entityTag(present)),
        context.traceparent,
      );
      return { status: 200, headers: { ETag: entityTag(product) }, body: productFields.show(product) };
    },
  };
}

/** The entity tag of a product: another one after each change. */
function entityTag({ id, revision }: Product): string {
  return `"${id}.${revision}"`;
}
