import cors from 'cors';
import type { Express, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { eventTypes } from '../generated/events.ts';
import document from '../generated/openapi.json' with { type: 'json' };
import { operationTable, type OperationRow, type Scope } from '../generated/operations.ts';
import { createApiKeys } from './api-keys/api-keys.ts';
import { createAuthentication } from './api-keys/authentication.ts';
import { createRefusedKeys } from './api-keys/refused-keys.ts';
import { apiKeyOperations } from './api-keys/api-key-operations.ts';
import { apiKeyIndexes, createApiKeyStore, type ApiKeyStore } from './api-keys/api-key-store.ts';
import type { BlobStore } from './blobs/blob-store.ts';
import { createBudget, type BudgetOptions } from './limits/memory-budget.ts';
import { createCategories } from './catalog/categories/categories.ts';
import { categoryOperations } from './catalog/categories/category-operations.ts';
import { categoryIndexes, createCategoryStore } from './catalog/categories/category-store.ts';
import { createLocations } from './catalog/locations/locations.ts';
import { locationOperations } from './catalog/locations/location-operations.ts';
import { createLocationStore, locationIndexes } from './catalog/locations/location-store.ts';
import { productOperations } from './catalog/products/product-operations.ts';
import { createProducts } from './catalog/products/products.ts';
import { createProductStore, productIndexes } from './catalog/products/product-store.ts';
import type { Config } from './config/config.ts';
import { databaseFull } from './db/database-errors.ts';
import { createExpiry } from './db/expiry.ts';
import type { CollectionIndexes } from './db/indexes.ts';
import type { PagedDatabase } from './db/pages.ts';
import type { Data } from './db/open-data.ts';
import type { Installation } from './db/installation.ts';
import { createEditQueue } from './editing/edit-queue.ts';
import type { LookUp } from './outbound/look-up.ts';
import { ProblemError } from './errors/problem-error.ts';
import { eventOperations } from './events/event-operations.ts';
import { serialiseEvent } from './events/serialise.ts';
import type { OperationHandlers } from './http/operation.ts';
import type { Exchange } from './http/pipeline.ts';
import { createEventStreams, type StreamTimes } from './http/event-streams.ts';
import { createListQueue } from './http/list-queue.ts';
import { createRateLimiter } from './http/rate-limit.ts';
import { createDashboard } from './http/pages/dashboard.ts';
import { createPages } from './http/pages/reference.ts';
import { createRouter } from './http/router.ts';
import { createShadow } from './http/shadow.ts';
import { createIdempotency } from './idempotency/idempotency.ts';
import { createIdempotencyStore, idempotencyIndexes } from './idempotency/idempotency-store.ts';
import { createIntegrationDirectory } from './integrations/directory.ts';
import { createIntegrations } from './integrations/integrations.ts';
import { integrationOperations } from './integrations/integration-operations.ts';
import type { SecretBox } from './secrets/secret-box.ts';
import { createStoredSecrets, type StoredSecrets } from './integrations/stored-secrets.ts';
import { createIntegrationStore, integrationIndexes } from './integrations/integration-store.ts';
import { createGenerator } from './generation/generator.ts';
import { createAnswerChecker } from './json-schema/answer-checker.ts';
import { createPlanner } from './generation/planner.ts';
import { createResponseCache } from './generation/response-cache.ts';
import { createRuns } from './generation/invocations.ts';
import { createInvoke } from './invoke/invoke.ts';
import { invokeOperations } from './invoke/invoke-operations.ts';
import { createKeptBytes } from './limits/kept-bytes.ts';
import type { Chore } from './runtime/maintenance.ts';
import type { Metrics } from './observability/metrics.ts';
import { recordExchange } from './observability/record-exchange.ts';
import { createFiscalDays } from './orders/fiscal-days/fiscal-days.ts';
import { fiscalDayOperations } from './orders/fiscal-days/fiscal-day-operations.ts';
import { createFiscalDayStore, fiscalDayIndexes } from './orders/fiscal-days/fiscal-day-store.ts';
import { orderOperations } from './orders/order-operations.ts';
import { createOrderIds } from './orders/order-id.ts';
import { createOrders } from './orders/orders.ts';
import { createOrderStore, orderIndexes } from './orders/order-store.ts';
import { chatOperations } from './openai/chat-operations.ts';
import { createCompatibleRuns } from './openai/compatible-invocations.ts';
import { createModels } from './openai/models.ts';
import { modelOperations } from './openai/model-operations.ts';
import { responsesOperations } from './openai/responses-operations.ts';
import { labelOperations } from './prompts/labels/label-operations.ts';
import { createLabelMoveStore, labelIndexes } from './prompts/labels/label-store.ts';
import { createLabels } from './prompts/labels/labels.ts';
import { createPrompts } from './prompts/prompts.ts';
import { promptOperations } from './prompts/prompt-operations.ts';
import { createPromptStore, promptIndexes } from './prompts/prompt-store.ts';
import { providerOperations } from './providers/provider-operations.ts';
import type { ProviderRegistry } from './providers/provider.ts';
import { serviceOperations } from './service/service-operations.ts';
import { createStatistics } from './statistics/statistics.ts';
import { statisticsOperations } from './statistics/statistics-operations.ts';
import { createStatisticsStore, statisticsIndexes } from './statistics/statistics-store.ts';
import { sessionOperations } from './sessions/session-operations.ts';
import { createSessionStore, sessionIndexes } from './sessions/session-store.ts';
import { createSessions, type Sessions } from './sessions/sessions.ts';
import { testRunOperations } from './test-runs/test-run-operations.ts';
import { createTestRunStore, testRunIndexes } from './test-runs/test-run-store.ts';
import { createTestRuns } from './test-runs/test-runs.ts';
import { webhookOperations } from './webhooks/webhook-operations.ts';
import { createAddressRule, parseNetwork } from './outbound/address-rules.ts';
import { checkTarget } from './webhooks/sending/target.ts';
import { createWebhooks, webhookIndexes } from './webhooks/webhooks.ts';
import type { Clock } from './runtime/clock.ts';
import { system } from './runtime/system.ts';
import { createTurns } from './runtime/turns.ts';

export interface AppDependencies {
  readonly config: Config;
  readonly database: PagedDatabase;
  readonly installation: Installation;
  /** Whether the database's disk is full, if this process can check it. */
  readonly isDatabaseFull?: () => Promise<boolean>;
  readonly blobs: BlobStore;
  readonly providers: ProviderRegistry;
  /** Finds the addresses of receivers. */
  readonly lookUp: LookUp;
  /** Encrypts secrets in the database. */
  readonly secrets: SecretBox;
  /** Version of the service, for `User-Agent`. */
  readonly version: string;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** How long requests share a check of the dependencies and a rendering of the metrics, in milliseconds. */
  readonly probesSharedForMs?: number;
  /** How often counts are written to the database, in milliseconds. @default 5000 */
  readonly statisticsEveryMs?: number;
  /** The longest time of a check of an answer against its schema, in milliseconds. @default 250 */
  readonly answerCheckMs?: number;
  /** The schema version of the data, and what is left to migrate. */
  readonly data: Pick<Data, 'schema' | 'progress'>;
  /** True after the process was asked to stop. */
  readonly isStopping: () => boolean;
  /** Called for every answer, after log and metrics. */
  readonly onExchange?: (exchange: Exchange) => void;
  /** For tests that move the time. */
  readonly clock?: Clock;
  /** Other times for tests. */
  readonly streamTimes?: StreamTimes | undefined;
  /** Other times for tests. */
  readonly createWebhooks?: typeof createWebhooks;
}

/** The service without its sockets. */
export interface App {
  readonly application: Express;
  readonly apiKeyStore: ApiKeyStore;
  readonly sessions: Pick<Sessions, 'createLink'>;
  readonly storedSecrets: Pick<StoredSecrets, 'count'>;
  readonly chores: readonly Chore[];
  /** Starts to send events. */
  start(): void;
  /** Ends the streams in progress with the problem `shutting-down`. */
  endStreams(): void;
  /** Waits for work that outlives its request and for deliveries in progress, at most this many milliseconds. */
  drain(timeoutMs: number): Promise<void>;
}

/** The indexes of every collection. Missing ones are created at start, or afterwards if there are documents. */
export const indexes: readonly CollectionIndexes[] = [
  apiKeyIndexes,
  sessionIndexes,
  idempotencyIndexes,
  promptIndexes,
  labelIndexes,
  testRunIndexes,
  locationIndexes,
  categoryIndexes,
  productIndexes,
  orderIndexes,
  fiscalDayIndexes,
  integrationIndexes,
  webhookIndexes,
  statisticsIndexes,
].flat();

/** Every scope of the contract: the scopes of the administrator. */
export const allScopes: readonly Scope[] = document.components.schemas.Scope.enum as Scope[];

/** Creates and connects stores, rules and operations. */
export function createApp(dependencies: AppDependencies): App {
  const { config, database, blobs, providers, lookUp, secrets, version, metrics, log } = dependencies;
  const { basePath } = config.http;
  const { random } = system;
  const { clock = system.clock } = dependencies;
  const isDatabaseFull = dependencies.isDatabaseFull ?? (() => Promise.resolve(false));
  const memory = createBudget(halfForEachKey(config.limits.requestMemory));
  metrics.watch({ providers: () => providers.load(), memory: () => memory.use });
  const keptBytes = createKeptBytes({
    ...halfForEachKey(config.limits.keptAnswers),
    monotonic: clock.monotonic,
  });
  const apiKeyStore = createApiKeyStore(database);
  const statistics = createStatistics({ store: createStatisticsStore(database), clock, random });
  const expire = createExpiry({ database, indexes, now: clock.now });
  const refusedKeys = createRefusedKeys(config.http.refusedKeysLimit);
  const authentication = createAuthentication({
    clock,
    store: apiKeyStore,
    allScopes: new Set(allScopes),
    adminKey: config.security.adminApiKey,
    refusedKeys,
    onError: (error) => {
      log.debug({ error }, 'the last use of an API key could not be recorded');
    },
  });
  const sessions = createSessions({
    clock,
    random,
    secrets,
    authentication,
    refusedKeys,
    store: createSessionStore(database),
  });
  const apiKeys = createApiKeys({
    clock,
    random,
    store: apiKeyStore,
    allScopes,
    onRevoked: (ids) => {
      authentication.forget(ids);
      sessions.forget(ids);
    },
  });
  const promptStore = createPromptStore(database);
  const editQueue = createEditQueue();
  const prompts = createPrompts({
    clock,
    random,
    editQueue,
    store: promptStore,
    cascades: [(promptId) => testRuns.deleteAllOf(promptId), (promptId) => labels.deleteAllOf(promptId)],
    isKnownProvider: (id) => providers.get(id) !== undefined,
  });
  const labels = createLabels({
    clock,
    random,
    prompts,
    editQueue,
    store: promptStore,
    moves: createLabelMoveStore(database),
  });
  const planner = createPlanner({ prompts, providers });
  const checker = createAnswerChecker({
    ...(dependencies.answerCheckMs !== undefined && { timeoutMs: dependencies.answerCheckMs }),
    onError: (error) => {
      log.warn({ error }, 'a check of an answer against its schema failed');
    },
  });
  const generator = createGenerator({
    cache: createResponseCache(config.invoke.cacheMaxBytes, clock.monotonic),
    checker,
    metrics,
    log,
    memory,
  });
  const testRuns = createTestRuns({
    clock,
    random,
    store: createTestRunStore(database),
    blobs,
    prompts,
    planner,
    generator,
    metrics,
    log,
    memory,
    keptBytes,
    timeoutMs: config.invoke.timeoutMs,
    retentionMs: config.limits.testRunRetentionMs,
  });
  const prepareRun = createRuns({ generator, statistics });
  const invoke = createInvoke({ planner, prepareRun, settings: config.invoke });
  const prepareCompatibleRun = createCompatibleRuns({
    planner,
    providers,
    prepareRun,
    timeoutMs: config.invoke.timeoutMs,
  });

  const locations = createLocations({ store: createLocationStore(database), clock });
  const integrationStore = createIntegrationStore(database);
  const storedSecrets = createStoredSecrets({
    store: integrationStore,
    secrets,
    onCounted: (counts) => {
      metrics.setStoredSecrets(counts);
    },
  });
  const allowedNetworks = config.security.allowedNetworks.map(parseNetwork).filter((network) => network !== undefined);
  const mayConnect = createAddressRule(allowedNetworks);
  const webhooks = (dependencies.createWebhooks ?? createWebhooks)({
    clock,
    random,
    database,
    mayConnect,
    lookUp,
    version,
    log,
    integrations: createIntegrationDirectory(integrationStore, secrets),
    serialise: serialiseEvent,
    observer: statistics.observing(metrics.webhooks),
  });
  const { relay, deliveries, replays } = webhooks;
  const integrations = createIntegrations({
    clock,
    random,
    store: integrationStore,
    locations,
    secrets,
    checkUrl: (url) => checkTarget(url, mayConnect),
    nudge: (id) => {
      webhooks.engine.nudge(id);
    },
    attemptNow: (id) => {
      webhooks.engine.attemptNow(id);
    },
  });
  const categories = createCategories({ store: createCategoryStore(database), locations, relay, clock, random });
  const products = createProducts({ store: createProductStore(database), locations, categories, relay, clock, random });
  const orderStore = createOrderStore(database);
  const orders = createOrders({ store: orderStore, locations, products, categories, relay, clock, random });
  const fiscalDays = createFiscalDays({
    store: createFiscalDayStore(database),
    orders: orderStore,
    locations,
    relay,
    clock,
    random,
  });

  const handlers: OperationHandlers = {
    ...promptOperations(prompts),
    ...labelOperations(labels),
    ...invokeOperations(invoke, planner),
    ...testRunOperations(testRuns),
    ...providerOperations(providers),
    ...modelOperations({ models: createModels({ prompts, providers }) }),
    ...chatOperations({ prepareRun: prepareCompatibleRun, clock }),
    ...responsesOperations({ prepareRun: prepareCompatibleRun, clock }),
    ...apiKeyOperations(apiKeys, version),
    ...sessionOperations(sessions, apiKeys, version),
    ...locationOperations(locations, random),
    ...categoryOperations(categories),
    ...productOperations(products, random),
    ...orderOperations(orders, createOrderIds(dependencies.installation)),
    ...fiscalDayOperations(fiscalDays),
    ...integrationOperations(integrations, webhooks, statistics),
    ...webhookOperations({ integrations, deliveries, replays, clock }),
    ...eventOperations(),
    ...statisticsOperations({ statistics, integrations, prompts }),
    ...serviceOperations({
      version,
      metrics,
      clock,
      sharedForMs: dependencies.probesSharedForMs,
      async checkDatabase() {
        // On a full disk a write would make the storage engine stop.
        if (await isDatabaseFull()) throw databaseFull(undefined);
        await database.ping();
      },
      checkStorage: () => blobs.check(),
      secretsKey: () => storedSecrets.worst,
      data: dependencies.data,
      isStopping: dependencies.isStopping,
    }),
  };

  const idempotency = createIdempotency({
    clock,
    random,
    store: createIdempotencyStore(database),
    keptBytes,
    memory,
    onError: (error) => {
      log.warn({ error }, 'the answer for an Idempotency-Key was not stored');
    },
  });
  const streams = createEventStreams({
    memory,
    times: dependencies.streamTimes,
    onChange: (active) => {
      metrics.setStreamsActive(active);
    },
  });
  const shadow = config.http.contractReferee ? createShadow({ document, metrics, log }) : undefined;
  const application = createRouter(
    handlers,
    {
      authenticate: (caller) => sessions.authenticate(caller),
      rateLimiter: createRateLimiter(config.http.rateLimit),
      idempotency,
      memory,
      turns: createTurns(),
      lists: createListQueue({ places: database.pages.listsAtOnce }),
      streams,
      log,
      basePath,
      async explainFailure(error) {
        const isAway = error instanceof ProblemError && error.type === 'database-unavailable';
        return isAway && (await isDatabaseFull()) ? databaseFull(error) : error;
      },
      traits: {
        invokePrompt: {
          idempotencyTermMs: (headers) => paidTermMs(config.invoke.timeoutMs, headers['X-Timeout-Ms']),
        },
        createChatCompletion: { idempotencyTermMs: () => paidTermMs(config.invoke.timeoutMs, undefined) },
        createResponse: { idempotencyTermMs: () => paidTermMs(config.invoke.timeoutMs, undefined) },
        createOrder: { isSelfIdempotent: true },
        createIntegration: { answerBox: secrets },
        listEventTypes: { isListedFromMemory: true },
      },
      onExchange: (exchange) => {
        recordExchange(exchange, log, metrics, statistics);
        shadow?.(exchange);
        dependencies.onExchange?.(exchange);
      },
    },
    [...corsFor(config.http.corsOrigins)],
    {
      ...createPages({
        version,
        basePath,
        references: [
          {
            path: '/docs',
            title: 'Prompt gateway API',
            document: '/openapi.json',
            patch: new URL('../generated/reference-patch.json', import.meta.url),
          },
          { path: '/docs/events', title: 'Prompt gateway events', document: '/asyncapi.json' },
        ],
        eventTypes,
        redoc: new URL('../dist/redoc.js', import.meta.url),
        clientPackage: new URL('../dist/client.tgz', import.meta.url),
      }),
      ...createDashboard({ folder: new URL('../dist/dashboard/', import.meta.url), basePath }),
    },
  );
  application.set('trust proxy', [...config.http.trustedProxies]);
  return {
    application,
    apiKeyStore,
    sessions,
    storedSecrets,
    chores: [
      { name: 'stored secrets', everyMs: 10 * 60_000, isImmediate: true, run: () => storedSecrets.renew() },
      { name: 'test runs', everyMs: 10_000, run: () => testRuns.sweep() },
      { name: 'expired documents', everyMs: 60_000, run: expire },
      { name: 'fiscal days', everyMs: 5_000, run: () => fiscalDays.tick() },
      { name: 'prompts', everyMs: 60_000, run: () => prompts.sweep() },
      { name: 'held deliveries', everyMs: 10 * 60_000, run: () => webhooks.retention.expireHeld() },
      { name: 'statistics', everyMs: dependencies.statisticsEveryMs ?? 5_000, run: () => statistics.flush() },
      { name: 'waiting deliveries', everyMs: 15_000, run: () => webhooks.measureBacklog() },
      { name: 'deleted integrations', everyMs: 60_000, run: () => webhooks.retention.sweepDeleted() },
      { name: 'orphaned deliveries', everyMs: 24 * 3_600_000, run: () => webhooks.retention.sweepOrphans() },
      { name: 'archived versions', everyMs: 24 * 3_600_000, run: () => prompts.sweepVersions() },
      { name: 'archived label moves', everyMs: 24 * 3_600_000, run: () => labels.sweep() },
    ],
    start() {
      webhooks.start();
    },
    endStreams() {
      streams.end(
        new ProblemError('shutting-down', {
          detail: 'The service is stopping, and the answer took too long to finish before.',
          headers: { 'Retry-After': '5' },
        }),
      );
    },
    async drain(timeoutMs) {
      const end = clock.monotonic() + timeoutMs;
      await Promise.all([testRuns.drain(timeoutMs), idempotency.drain(timeoutMs), webhooks.stop(timeoutMs)]);
      await Promise.all([statistics.close(Math.max(0, end - clock.monotonic())), checker.close()]);
    },
  };
}

/** One key cannot use the whole budget. */
function halfForEachKey(perProcess: number): BudgetOptions {
  return { perKey: Math.floor(perProcess / 2), perProcess };
}

/** Milliseconds in addition to the deadline of a provider's call: for reading the prompt, rendering and storing. */
const paidTermMarginMs = 10_000;

/** A paid call is not repeated before its deadline has certainly passed. */
function paidTermMs(timeoutMs: number, requested: unknown): number {
  return (typeof requested === 'number' ? Math.min(requested, timeoutMs) : timeoutMs) + paidTermMarginMs;
}

function corsFor(origins: readonly string[]): RequestHandler[] {
  if (origins.length === 0) return [];
  const rows: readonly OperationRow[] = Object.values(operationTable);
  const answers = Object.values(document.paths).flatMap((item: object) =>
    Object.values(item).flatMap(({ responses = {} }: { responses?: object }) => Object.values(responses)),
  ) as { headers?: object }[];
  const headerParameters = rows.flatMap(({ parameters }) => parameters.filter(({ in: place }) => place === 'header'));
  return [
    cors({
      origin: [...origins],
      methods: unique(rows.map(({ method }) => method)),
      allowedHeaders: unique([
        ...['Authorization', 'Content-Type', 'X-API-Key', 'X-Request-Id', 'traceparent'],
        ...headerParameters.map(({ name }) => name),
      ]),
      exposedHeaders: unique(
        [...answers, ...Object.values(document.components.responses)].flatMap(({ headers = {} }) =>
          Object.keys(headers),
        ),
      ).filter((name) => name !== 'Set-Cookie'), // Other origins get no session, and no page reads this field.
      maxAge: 600,
    }),
  ];
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
