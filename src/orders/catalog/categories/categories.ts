import { changed, type Precondition } from '../../../base/editing/edits.ts';
import { ProblemError } from '../../../base/errors/problem-error.ts';
import { categoryUpdated } from '../../../webhooks/events/announcements.ts';
import { makeRoom, outboxCapacity, type Relay } from '../../../webhooks/events/outbox.ts';
import { createEditQueue } from '../../../base/editing/edit-queue.ts';
import { mayReachLocation, type Reach } from '../../../base/limits/reach.ts';
import type { Listing } from '../../../base/lists/listing.ts';
import { auditEntry, type Author } from '../../../access/audit/author.ts';
import { requireLocation, type Locations } from '../locations/locations.ts';
import { categoryFields, type Category, type CategoryChange, type NewCategory } from './category.ts';
import type { CategoryFilter, CategoryStore } from './category-store.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { Random } from '../../../base/runtime/random.ts';

/** Categories. Every method that takes an id throws `category-not-found`, also for one beyond the reach of the caller. */
export interface Categories {
  /**
   * Stores a category, or finds the one that an earlier attempt stored with the same id. This sends no event, because
   * receivers do not know the category yet.
   * @throws {ProblemError} unknown-location
   */
  create(category: NewCategory, id: string, author: Author): Promise<Category>;
  get(id: string, reach?: Reach): Promise<Category>;
  find(id: string): Promise<Category | undefined>;
  /** The categories that exist, by id. */
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Category>>;
  /** The newest first. */
  list(filter: CategoryFilter): Listing<Category>;
  /**
   * Changes a category and adds its event in the same write. If nothing changes, it writes nothing and sends no event.
   * @throws {ProblemError} precondition-failed, edit-conflict, overloaded
   */
  update(id: string, change: CategoryChange, precondition: Precondition<Category>, author: Author): Promise<Category>;
}

export interface CategoriesOptions {
  readonly store: CategoryStore;
  readonly locations: Pick<Locations, 'find'>;
  readonly relay: Relay;
  readonly clock: Clock;
  readonly random: Random;
}

const audited = { type: 'category', show: categoryFields.show } as const;

export function createCategories({ store, locations, relay, clock, random }: CategoriesOptions): Categories {
  const editQueue = createEditQueue();
  const get = async (id: string, reach?: Reach): Promise<Category> => {
    const category = await store.find(id);
    if (category === undefined || !mayReachLocation(reach, category.locationId))
      throw new ProblemError('category-not-found', { detail: `No category has the id ${id}.` });
    return category;
  };

  return {
    get,
    find: (id) => store.find(id),
    findAll: (ids) => store.findAll(ids),
    list: (filter) => store.list(filter),

    async create(sent, id, author) {
      await requireLocation(locations, sent.locationId);
      const at = clock.now();
      const category: Category = { id, ...sent, createdAt: at, updatedAt: at, revision: 1, waiting: 0 };
      const entry = auditEntry(author, audited, { at, after: category });
      return (await store.insert(category, entry)) ? category : await get(id);
    },

    update: (id, change, precondition, author) =>
      editQueue.edit(id, {
        get: () => get(id),
        precondition,
        change: (present) => changed(present, change, clock.now()),
        async write(next, present) {
          if (present.waiting >= outboxCapacity) {
            await makeRoom(relay, 'categories', id, async () => (await get(id)).waiting);
          }
          const { locationId } = present;
          const location = await locations.find(locationId);
          const occasion = {
            eventId: random.uuid(),
            locationId,
            locationName: location?.name,
            at: next.updatedAt,
            traceparent: author.traceparent,
          };
          const entry = auditEntry(author, audited, { at: next.updatedAt, before: present, after: next });
          const stored = await store.replace(next, [categoryUpdated(id, occasion)], entry);
          if (stored !== undefined) relay.nudge('categories', id);
          return stored;
        },
      }),
  };
}

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
