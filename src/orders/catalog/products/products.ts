import { changed, type Precondition } from '../../../base/editing/edits.ts';
import { ProblemError } from '../../../base/errors/problem-error.ts';
import { categoryUpdated, productUpdated, type Occasion } from '../../../webhooks/events/announcements.ts';
import type { OutboxEntry } from '../../../webhooks/events/event.ts';
import { makeRoom, outboxCapacity, type Relay } from '../../../webhooks/events/outbox.ts';
import { createEditQueue } from '../../../base/editing/edit-queue.ts';
import { mayReachLocation, type Reach } from '../../../base/limits/reach.ts';
import type { Listing } from '../../../base/lists/listing.ts';
import { requireCategory, type Categories } from '../categories/categories.ts';
import { auditEntry, type AuditedKind, type Author } from '../../../access/audit/author.ts';
import { requireLocation, type Locations } from '../locations/locations.ts';
import { requireSoundGroups } from './modifier-groups.ts';
import { productFields, type NewProduct, type Product, type ProductChange } from './product.ts';
import type { ProductFilter, ProductStore } from './product-store.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { Random } from '../../../base/runtime/random.ts';

/** Products. Every method that takes an id throws `product-not-found`, also for one beyond the reach of the caller. */
export interface Products {
  /**
   * Stores a product, or finds the one that an earlier attempt stored with the same id. This sends no event, because
   * receivers do not know the product yet.
   * @throws {ProblemError} unknown-location, unknown-category, invalid-modifier-groups
   */
  create(product: NewProduct, id: string, author: Author): Promise<Product>;
  get(id: string, reach?: Reach): Promise<Product>;
  /** The products that exist, by id. */
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Product>>;
  /** The newest first. */
  list(filter: ProductFilter): Listing<Product>;
  /**
   * Changes a product and adds the events of the product and its category in the same write. A product that moves adds
   * the events of both categories. If nothing changes, it writes nothing and sends no event.
   * @throws {ProblemError} precondition-failed, unknown-category, invalid-modifier-groups, edit-conflict, overloaded
   */
  update(id: string, change: ProductChange, precondition: Precondition<Product>, author: Author): Promise<Product>;
}

export interface ProductsOptions {
  readonly store: ProductStore;
  readonly locations: Pick<Locations, 'find'>;
  readonly categories: Pick<Categories, 'find'>;
  readonly relay: Relay;
  readonly clock: Clock;
  readonly random: Random;
}

const audited: AuditedKind<Product> = {
  type: 'product',
  show: productFields.show,
  currency: ({ currency }) => currency,
};

export function createProducts({ store, locations, categories, relay, clock, random }: ProductsOptions): Products {
  const editQueue = createEditQueue();
  const get = async (id: string, reach?: Reach): Promise<Product> => {
    const product = await store.find(id);
    if (product === undefined || !mayReachLocation(reach, product.locationId))
      throw new ProblemError('product-not-found', { detail: `No product has the id ${id}.` });
    return product;
  };

  /** The events that announce a change, the product's first. */
  const announce = async (before: Product, after: Product, traceparent: string | undefined): Promise<OutboxEntry[]> => {
    const location = await locations.find(after.locationId);
    const occasion = (): Occasion => ({
      traceparent,
      eventId: random.uuid(),
      locationId: after.locationId,
      locationName: location?.name,
      at: after.updatedAt,
    });
    const affected = new Set([before.categoryId, after.categoryId]);
    return [
      productUpdated(after.id, occasion()),
      ...[...affected].map((categoryId) => categoryUpdated(categoryId, occasion(), after.id)),
    ];
  };

  return {
    get,
    findAll: (ids) => store.findAll(ids),
    list: (filter) => store.list(filter),

    async create(sent, id, author) {
      const { currency } = await requireLocation(locations, sent.locationId);
      await requireCategory(categories, sent.categoryId, sent.locationId);
      requireSoundGroups(sent, sent);
      const at = clock.now();
      const product = { id, currency, ...sent, createdAt: at, updatedAt: at, revision: 1, waiting: 0 };
      const entry = auditEntry(author, audited, { at, after: product });
      return (await store.insert(product, entry)) ? product : await get(id);
    },

    update: (id, change, precondition, author) =>
      editQueue.edit(id, {
        get: () => get(id),
        precondition,
        change: (present) => changed(present, change, clock.now()),
        async write(next, present) {
          if (next.categoryId !== present.categoryId) {
            await requireCategory(categories, next.categoryId, present.locationId);
          }
          if ('modifiers' in change || 'modifierGroups' in change) requireSoundGroups(next, change);
          if (present.waiting >= outboxCapacity) {
            await makeRoom(relay, 'products', id, async () => (await get(id)).waiting);
          }
          const entry = auditEntry(author, audited, { at: next.updatedAt, before: present, after: next });
          const stored = await store.replace(next, await announce(present, next, author.traceparent), entry);
          if (stored !== undefined) relay.nudge('products', id);
          return stored;
        },
      }),
  };
}
