/**
 * The service of the benchmark, in a process of its own and with its ordinary times: HTTP intake, relay and delivery
 * engine. On request it also places orders itself, directly through the rules of orders.
 */
import { createCategories } from '../../src/orders/catalog/categories/categories.ts';
import { createCategoryStore } from '../../src/orders/catalog/categories/category-store.ts';
import { createLocations } from '../../src/orders/catalog/locations/locations.ts';
import { createLocationStore } from '../../src/orders/catalog/locations/location-store.ts';
import { createProducts } from '../../src/orders/catalog/products/products.ts';
import { createProductStore } from '../../src/orders/catalog/products/product-store.ts';
import { randomUUID } from 'node:crypto';
import { loadConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { orderFields } from '../../src/orders/order.ts';
import { createOrders } from '../../src/orders/orders.ts';
import { createOrderStore } from '../../src/orders/order-store.ts';
import { startService } from '../../src/start.ts';
import { createAddressRule, loopbackNetworks } from '../../src/base/outbound/address-rules.ts';
import { silentObserver } from '../../src/webhooks/observer.ts';
import { createWebhooks, type Webhooks } from '../../src/webhooks/webhooks.ts';
import { pace, type Acknowledged, type PaceOptions } from './webhooks-pace.ts';
import { preciseNow } from './webhooks-sink.ts';
import { system } from '../../src/base/runtime/system.ts';
import { openDatabase } from '../support/database.ts';

/** The requests of the parent process. */
export type ServiceRequest =
  | {
      readonly kind: 'place';
      readonly locationId: string;
      readonly productId: string;
      readonly fanOut: number;
      readonly pace: PaceOptions;
    }
  | { readonly kind: 'cpu' };

export type ServiceAnswer =
  | { readonly url: string }
  | { readonly acknowledged: readonly Acknowledged[] }
  /** CPU time of the process so far, in milliseconds. */
  | { readonly cpu: number };

const tell = (message: ServiceAnswer): void => void process.send?.(message);
const config = loadConfig(process.env);
const log = createLogger(config.log.level);
const database = await openDatabase(config.database.uri ?? '', config.database.name);
let finished = 0;
const running = Promise.withResolvers<Webhooks>();
const service = await startService({
  config,
  environment: process.env,
  log,
  print: () => undefined,
  createWebhooks(dependencies) {
    const webhooks = createWebhooks({
      ...dependencies,
      mayConnect: createAddressRule(loopbackNetworks),
      observer: { ...silentObserver, finished: () => (finished += 1) },
    });
    running.resolve(webhooks);
    return webhooks;
  },
});
const { relay } = await running.promise;
const locations = createLocations({ store: createLocationStore(database), ...system });
const categories = createCategories({ store: createCategoryStore(database), locations, relay, ...system });
const products = createProducts({ store: createProductStore(database), locations, categories, relay, ...system });
const orders = createOrders({ store: createOrderStore(database), locations, products, categories, relay, ...system });

async function place({
  locationId,
  productId,
  fanOut,
  pace: options,
}: ServiceRequest & { kind: 'place' }): Promise<void> {
  const before = finished;
  const items = [{ productId, quantity: 2, modifiers: [] }];
  const acknowledged = await pace(
    async () => {
      const id = randomUUID();
      const given = orderFields.readNew({ location_id: locationId });
      const request = { given, items, spotId: undefined, fingerprint: 'benchmark' };
      await orders.create(request, { id, repeatable: false });
      return [id, preciseNow()];
    },
    () => (finished - before) / fanOut,
    options,
  );
  tell({ acknowledged });
}

process.on('message', (request: ServiceRequest) => {
  if (request.kind === 'place') void place(request);
  else {
    const { user, system } = process.cpuUsage();
    tell({ cpu: (user + system) / 1_000 });
  }
});
process.on('disconnect', () => {
  void service.stop().finally(() => process.exit(0));
});
tell({ url: service.url });
