import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { PagedDatabase } from '../../../src/storage/db/pages.ts';
import type { Integration, SubscribableType } from '../../../src/webhooks/integrations/integration.ts';
import { secretRecord } from '../../../src/webhooks/integrations/integration.ts';
import { ensureSecretKey } from '../../../src/base/secrets/secret-key-file.ts';
import { createSecretBox } from '../../../src/base/secrets/secret-box.ts';
import { createIntegrationStore, type IntegrationStore } from '../../../src/webhooks/integrations/integration-store.ts';
import type { WebhookTiming } from '../../../src/webhooks/timing.ts';
import type { ReceivedRequest, Reaction } from '../../support/receiver.ts';
import { checkSetting, fastEngine } from '../../support/database-server.ts';
import { openDatabase } from '../../support/database.ts';
import { adminKey, send } from '../../support/send.ts';
import { underTest } from '../../support/service-process.ts';
import { startPageReader, startStreamReader, type FeedReader } from './feed-readers.ts';
import { openLedger, type Ledger } from './ledger.ts';
import { createServiceNode, type ServiceNode } from './node.ts';
import { startOrders, type OrderStream } from './order-stream.ts';
import { faultTiming, timingVariable } from './timing.ts';
import { someEntry } from '../../support/author.ts';

export interface WorldSettings {
  /** The process id of the database server. */
  readonly databaseUri: string;
  /** The address that the services use to reach it, if it is another one: that of a proxy. */
  readonly serviceUri?: string;
  /** The error of each service process's clock in milliseconds. There is one process for each entry. */
  readonly clockShifts?: readonly number[];
  readonly timing?: WebhookTiming;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Service processes on one database of their own, and receivers of their events. */
export interface World {
  readonly database: PagedDatabase;
  readonly integrations: IntegrationStore;
  readonly nodes: readonly ServiceNode[];
  /** Receivers that record what they get. */
  readonly ledgers: readonly Ledger[];
  /** Readers of the feed: four by pages, two by streams. */
  readonly readers: readonly FeedReader[];
  /** Creates an integration for a receiver. @returns the id of the integration */
  subscribe(url: string, secret: string, id?: string): Promise<string>;
  /** Changes integrations, as an operator does. */
  edit(ids: readonly string[], change: (integration: Integration) => Integration): Promise<void>;
  /** Starts a receiver that records what it gets, and its integration. */
  addLedger(react?: (request: ReceivedRequest) => Reaction): Promise<Ledger>;
  /** Starts to place orders and to change products. */
  placeOrders(rate: number): OrderStream;
  close(): Promise<void>;
}

const eventTypes: readonly SubscribableType[] = ['ORDER_PLACED', 'PRODUCT_UPDATED', 'CATEGORY_UPDATED'];

export async function startWorld({
  databaseUri,
  serviceUri = databaseUri,
  clockShifts = [0, 0],
  timing = faultTiming,
  environment: extra = {},
}: WorldSettings): Promise<World> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'webhook-faults-'));
  const databaseName = `faults_${randomUUID().slice(0, 8)}`;
  const database = await openDatabase(databaseUri, databaseName);
  const integrations = createIntegrationStore(database);
  const secrets = createSecretBox(await ensureSecretKey(dataDir));
  const environment = {
    ...underTest,
    DATA_DIR: dataDir,
    // After the process of a request dies, its idempotency key stays in use for this time and half a minute more.
    INVOKE_TIMEOUT_MS: '1000',
    MONGODB_URI: serviceUri,
    MONGODB_DATABASE: databaseName,
    [timingVariable]: JSON.stringify(timing),
    ...checkSetting(fastEngine),
    ...extra,
  };
  const nodes = clockShifts.map((clockShift) => createServiceNode(environment, clockShift));
  const ledgers: Ledger[] = [];
  for (const node of nodes) await node.start();
  const catalog = await createCatalog(nodes[0]?.url ?? '');

  let turn = 0;
  const urlOf = (): string | undefined => {
    const up = nodes.flatMap(({ url }) => url ?? []);
    return up[(turn += 1) % Math.max(up.length, 1)];
  };
  const starts = [startStreamReader, startStreamReader, ...Array.from({ length: 4 }, () => startPageReader)];
  const readers = starts.map((start) => start(urlOf));

  const world: World = {
    database,
    integrations,
    nodes,
    ledgers,
    readers,
    async subscribe(url, secret, id = randomUUID()) {
      const at = new Date();
      await integrations.insert(
        {
          id,
          name: 'Receiver',
          url,
          eventTypes,
          headers: [],
          status: 'active',
          createdAt: at,
          updatedAt: at,
          secret: secrets.seal(secret, secretRecord(id)),
          rotation: undefined,
          finishedRotationId: undefined,
          disabled: undefined,
          warning: undefined,
          locationIds: undefined,
          filter: undefined,
        },
        someEntry(),
      );
      return id;
    },
    async edit(ids, change) {
      for (const id of ids) {
        let written: Integration | undefined;
        while (written === undefined) {
          const integration = await integrations.find(id);
          if (integration === undefined) throw new Error(`no integration ${id}`);
          written = await integrations.replace(change(integration), someEntry());
        }
      }
    },
    async addLedger(react) {
      const integrationId = randomUUID();
      const secret = randomBytes(16).toString('hex');
      const ledger = await openLedger({ integrationId, secret, ...(react === undefined ? {} : { react }) });
      await world.subscribe(ledger.url, secret, integrationId);
      ledgers.push(ledger);
      return ledger;
    },
    placeOrders: (rate) =>
      startOrders({
        key: adminKey,
        rate,
        products: catalog.changing,
        urls: () => nodes.flatMap(({ url }) => url ?? []),
        body: { location_id: catalog.location, items: [{ product_id: catalog.product, quantity: 2 }] },
      }),
    async close() {
      await Promise.all(readers.map((reader) => reader.stop()));
      for (const node of nodes) node.signal('SIGCONT');
      await Promise.all(nodes.map((node) => node.stop()));
      await Promise.all(ledgers.map((ledger) => ledger.close()));
      await database.db.dropDatabase();
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return world;
}

/** The catalog: one product that is ordered, and two with changing prices, each in its own category. */
async function createCatalog(url: string): Promise<{ location: string; product: string; changing: string[] }> {
  const create = async (path: string, body: unknown): Promise<string> => {
    const answer = await send({ url }, 'POST', `/v1/${path}`, body);
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { id: string }).id;
  };
  const location = await create('locations', { name: 'Canal Café', currency: 'EUR', time_zone: 'Europe/Amsterdam' });
  const product = async (name: string): Promise<string> => {
    const category = await create('categories', { location_id: location, name: `Category of ${name}` });
    return create('products', { location_id: location, category_id: category, name, price: 420, tags: ['hot'] });
  };
  return {
    location,
    product: await product('Café crème'),
    changing: [await product('Crêpe'), await product('Croissant')],
  };
}
