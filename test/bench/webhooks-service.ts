/**
 * The service of the benchmark, as a process of its own with the design's own times: HTTP intake, relay and delivery
 * engine. On request it also places orders itself, straight through the orders' rules.
 */
import packageJson from '../../package.json' with { type: 'json' };
import { createCategories } from '../../src/catalog/categories/categories.ts';
import { createCategoryStore } from '../../src/catalog/categories/store.ts';
import { createLocations } from '../../src/catalog/locations/locations.ts';
import { createLocationStore } from '../../src/catalog/locations/store.ts';
import { createProducts } from '../../src/catalog/products/products.ts';
import { createProductStore } from '../../src/catalog/products/store.ts';
import { randomUUID } from 'node:crypto';
import { loadConfig } from '../../src/config.ts';
import { connectDatabase } from '../../src/db/client.ts';
import { ensureIndexes } from '../../src/db/indexes.ts';
import { serialiseEvent } from '../../src/events/serialise.ts';
import { createIntegrationDirectory } from '../../src/integrations/directory.ts';
import { ensureSecretKey } from '../../src/integrations/secret-key-file.ts';
import { createSecretBox } from '../../src/integrations/secrets.ts';
import { createIntegrationStore, integrationIndexes } from '../../src/integrations/store.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createOrders } from '../../src/orders/orders.ts';
import { createOrderStore } from '../../src/orders/store.ts';
import { startService } from '../../src/start.ts';
import { createAddressRule, loopbackNetworks } from '../../src/webhooks/sending/address-rules.ts';
import { createWebhooks, webhookIndexes } from '../../src/webhooks/webhooks.ts';
import { pace, type Acknowledged, type PaceOptions } from './webhooks-pace.ts';
import { preciseNow } from './webhooks-sink.ts';

/** What the parent asks for. */
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
const database = await connectDatabase({ uri: config.database.uri ?? '', databaseName: config.database.name, log });
await ensureIndexes(database.db, [...webhookIndexes, integrationIndexes]);
const secrets = createSecretBox(await ensureSecretKey(config.database.dataDir));
let finished = 0;
const webhooks = createWebhooks({
  database,
  integrations: createIntegrationDirectory(createIntegrationStore(database), secrets),
  serialise: serialiseEvent,
  mayConnect: createAddressRule(loopbackNetworks),
  version: packageJson.version,
  log,
  observer: {
    ...{ tried: () => undefined, relayed: () => undefined, breakerOpened: () => undefined },
    ...{ integrationDisabled: () => undefined, lanesHeld: () => undefined },
    finished: () => (finished += 1),
  },
});
webhooks.start();
const { relay } = webhooks;
const locations = createLocations({ store: createLocationStore(database) });
const categories = createCategories({ store: createCategoryStore(database), locations, relay });
const products = createProducts({ store: createProductStore(database), locations, categories, relay });
const orders = createOrders({ store: createOrderStore(database), locations, products, relay });
const service = await startService({
  config,
  environment: process.env,
  log,
  print: () => undefined,
  onExchange({ operationId, answer }) {
    if (operationId !== 'createOrder' || answer.status !== 201) return;
    relay.nudge('orders', (JSON.parse(answer.body) as { id: string }).id);
  },
});

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
      const request = { locationId, items, spotId: undefined, note: undefined, fingerprint: 'benchmark' };
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
  void service
    .stop()
    .then(() => webhooks.stop(2_000))
    .finally(() => process.exit(0));
});
tell({ url: service.url });
