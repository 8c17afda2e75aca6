import type { Express, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { eventTypes } from '../generated/events.ts';
import document from '../generated/openapi.json' with { type: 'json' };
import { apiKeyIndexes, type ApiKeyStore } from './access/api-keys/api-key-store.ts';
import { allScopes, createApiKeyFeature } from './access/api-keys/feature.ts';
import { createOidcFeature, createPeopleFeature } from './access/people/feature.ts';
import { personIndexes } from './access/people/person-store.ts';
import { auditIndexes } from './access/audit/audit-store.ts';
import { createAuditFeature } from './access/audit/feature.ts';
import type { CheckedBlobStore } from './storage/blobs/create-blob-store.ts';
import { budgetIndexes } from './accounting/budgets/budget-store.ts';
import { createBudgetFeature } from './accounting/budgets/feature.ts';
import { periodIndexes } from './accounting/budgets/period-store.ts';
import { requireLocation } from './orders/catalog/locations/locations.ts';
import { catalogIndexes, createCatalog, createLocationFeature } from './orders/catalog/feature.ts';
import type { Config } from './config/config.ts';
import { createCostFeature } from './accounting/prices/feature.ts';
import { priceIndexes } from './accounting/prices/price-store.ts';
import { databaseFull } from './storage/db/database-errors.ts';
import { createExpiry } from './storage/db/expiry.ts';
import type { CollectionIndexes } from './storage/db/indexes.ts';
import type { Installation } from './storage/db/installation.ts';
import type { Data } from './storage/db/open-data.ts';
import type { PagedDatabase } from './storage/db/pages.ts';
import { ProblemError } from './base/errors/problem-error.ts';
import { feedOperations } from './webhooks/feed/feed-operations.ts';
import { eventOperations } from './webhooks/events/event-operations.ts';
import { serialiseEvent } from './webhooks/events/serialise.ts';
import type { Basis } from './storage/db/basis.ts';
import { createGeneration } from './prompts/generation/feature.ts';
import { corsFor } from './http/cors.ts';
import { createEventStreams, type StreamTimes } from './http/event-streams.ts';
import type { Exchange } from './http/exchange.ts';
import { limitPaths, type Finders } from './http/limited-paths.ts';
import { createListQueue } from './http/list-queue.ts';
import type { OperationHandlers } from './http/operation.ts';
import { createDashboard } from './http/pages/dashboard.ts';
import { plainPages } from './http/pages/plain-page.ts';
import { createPages } from './http/pages/reference.ts';
import { createRateLimiter } from './http/rate-limit.ts';
import { createRouter } from './http/router.ts';
import { createShadow } from './http/shadow.ts';
import { createIdempotency } from './http/idempotency/idempotency.ts';
import { createIdempotencyStore, idempotencyIndexes } from './http/idempotency/idempotency-store.ts';
import { createDirectory, createIntegrationFeature } from './webhooks/integrations/feature.ts';
import { integrationIndexes } from './webhooks/integrations/integration-store.ts';
import type { StoredSecrets } from './webhooks/integrations/stored-secrets.ts';
import { feedbackIndexes } from './accounting/invocations/feedback-store.ts';
import { createInvocationFeature, type InvocationLogTimes } from './accounting/invocations/feature.ts';
import { providerTestOperations } from './prompts/invoke/provider-test-operations.ts';
import { invokeOperations } from './prompts/invoke/invoke-operations.ts';
import { createKeptBytes } from './base/limits/kept-bytes.ts';
import { createMemoryBudget, type MemoryBudgetOptions } from './base/limits/memory-budget.ts';
import type { Metrics } from './observability/metrics.ts';
import { createAttention } from './observability/attention.ts';
import { attentionOperations } from './observability/attention-operations.ts';
import { recordExchange } from './observability/record-exchange.ts';
import { argumentsPath } from './prompts/anthropic/message-request.ts';
import { createCompatibleFeature } from './prompts/compatible/feature.ts';
import { mcpOperations } from './prompts/mcp/mcp-operations.ts';
import { createOrdersFeature, ordersIndexes } from './orders/feature.ts';
import { createAddressRule, parseNetwork } from './base/outbound/address-rules.ts';
import type { LookUp } from './base/outbound/look-up.ts';
import { createPromptFeature, promptsIndexes } from './prompts/feature.ts';
import { providerOperations } from './models/provider-operations.ts';
import type { ProviderRegistry } from './models/provider.ts';
import type { Clock } from './base/runtime/clock.ts';
import type { Chore } from './base/runtime/maintenance.ts';
import { shareFor } from './base/runtime/share-for.ts';
import { system } from './base/runtime/system.ts';
import { createTurns } from './base/runtime/turns.ts';
import { within } from './base/runtime/within.ts';
import type { SecretBox } from './base/secrets/secret-box.ts';
import { serviceOperations } from './http/service/service-operations.ts';
import { createSessionFeature } from './access/sessions/feature.ts';
import { sessionIndexes } from './access/sessions/session-store.ts';
import type { Sessions } from './access/sessions/sessions.ts';
import { costsAddedUpUntil, createSpendingFeature } from './accounting/costs/feature.ts';
import { spendingIndexes } from './accounting/costs/spending-store.ts';
import { statisticsOperations } from './accounting/statistics/statistics-operations.ts';
import { createProviderHealthStore, providerHealthIndexes } from './accounting/statistics/provider-health-store.ts';
import { createStatisticsStore, statisticsIndexes } from './accounting/statistics/statistics-store.ts';
import { createStatistics } from './accounting/statistics/statistics.ts';
import { datasetIndexes } from './prompts/evaluations/datasets/dataset-store.ts';
import { createGateFeature, createVerdicts } from './prompts/evaluations/gates/feature.ts';
import { createDatasetFeature } from './prompts/evaluations/datasets/feature.ts';
import { versionIndexes } from './prompts/evaluations/datasets/version-store.ts';
import { createMarkFeature } from './prompts/evaluations/judges/feature.ts';
import { markIndexes } from './prompts/evaluations/judges/mark-store.ts';
import { evaluationIndexes } from './prompts/evaluations/runs/evaluation-store.ts';
import {
  createEvaluationFeature,
  createEvaluationKeeping,
  type EvaluationTimes,
} from './prompts/evaluations/runs/feature.ts';
import { createTestRunDeletion, createTestRunFeature } from './prompts/test-runs/feature.ts';
import { testRunIndexes } from './prompts/test-runs/test-run-store.ts';
import type { Telemetry } from './observability/telemetry/telemetry.ts';
import { checkTarget } from './webhooks/sending/target.ts';
import { webhookOperations } from './webhooks/webhook-operations.ts';
import { createWebhooks, webhookIndexes } from './webhooks/webhooks.ts';

/** What tests set otherwise. */
export interface AppOverrides {
  /** Called for every answer, after log and metrics. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
  readonly clock?: Clock | undefined;
  readonly streamTimes?: StreamTimes | undefined;
  readonly createWebhooks?: typeof createWebhooks | undefined;
  /** How long requests share a check of the dependencies and a rendering of the metrics, in milliseconds. @default 1000 */
  readonly probesSharedForMs?: number | undefined;
  /** How often counts are written to the database, in milliseconds. @default 5000 */
  readonly statisticsEveryMs?: number | undefined;
  /** The longest time of a check of an answer against its schema, in milliseconds. @default 250 */
  readonly answerCheckMs?: number | undefined;
  readonly invocationLogTimes?: InvocationLogTimes | undefined;
  readonly evaluationTimes?: EvaluationTimes | undefined;
}

export interface AppDependencies extends AppOverrides {
  readonly config: Config;
  readonly database: PagedDatabase;
  readonly installation: Installation;
  /** Whether the database's disk is full, if this process can check it. */
  readonly isDatabaseFull?: (() => Promise<boolean>) | undefined;
  readonly blobs: CheckedBlobStore;
  readonly providers: ProviderRegistry;
  /** Reaches the operator's identity provider: limited in size, without redirects. */
  readonly issuerFetch: typeof globalThis.fetch;
  /** Finds the addresses of receivers. */
  readonly lookUp: LookUp;
  /** Encrypts secrets in the database. */
  readonly secrets: SecretBox;
  /** Version of the service, for `User-Agent`. */
  readonly version: string;
  readonly metrics: Metrics;
  /** Undefined if nothing is sent to a collector. */
  readonly telemetry: Telemetry | undefined;
  readonly log: Logger;
  /** The schema version of the data, and what is left to migrate. */
  readonly data: Pick<Data, 'schema' | 'progress'>;
  /** True after the process was asked to stop. */
  readonly isStopping: () => boolean;
}

/** The service without its sockets. */
export interface App {
  readonly application: Express;
  readonly apiKeyStore: ApiKeyStore;
  readonly sessions: Pick<Sessions, 'createLink'>;
  /** The identity provider; undefined if none is configured. */
  readonly issuer: { check(): Promise<void> } | undefined;
  readonly storedSecrets: Pick<StoredSecrets, 'count'>;
  readonly chores: readonly Chore[];
  /** Reads what requests and metrics need in memory: prices and budgets. */
  prepare(): Promise<void>;
  /** Starts to pass events on, and to send them, unless it must not. */
  start(): void;
  /** Ends the streams that do not end by themselves. Their readers go on at another process. */
  endEndlessAnswers(): void;
  /** Ends the work on answers, streams and test runs, with the problem `interrupted`. */
  endAnswers(): void;
  /** Waits for work that outlives its request and for deliveries in progress, at most this many milliseconds. */
  drain(timeoutMs: number): Promise<void>;
}

/** The indexes of every collection. Missing ones are created at start, or afterwards if there are documents. */
export const indexes: readonly CollectionIndexes[] = [
  apiKeyIndexes,
  sessionIndexes,
  personIndexes,
  idempotencyIndexes,
  promptsIndexes,
  testRunIndexes,
  datasetIndexes,
  versionIndexes,
  evaluationIndexes,
  markIndexes,
  catalogIndexes,
  ordersIndexes,
  integrationIndexes,
  webhookIndexes,
  statisticsIndexes,
  providerHealthIndexes,
  priceIndexes,
  budgetIndexes,
  periodIndexes,
  auditIndexes,
  spendingIndexes,
  feedbackIndexes,
].flat();

/** So that who asks whether the storage works always gets an answer. */
const storageCheckLimitMs = 2_000;

/** Connects the features with each other, and all of them with HTTP. */
export function createApp(dependencies: AppDependencies): App {
  const { config, database, blobs, providers, lookUp, secrets, version, metrics, telemetry, log } = dependencies;
  const { basePath } = config.http;
  const { random } = system;
  const { clock = system.clock, isDatabaseFull = () => Promise.resolve(false) } = dependencies;
  const basis: Basis = { database, clock, random };
  const memory = createMemoryBudget(halfForEachKey(config.limits.requestMemory));
  const keptBytes = createKeptBytes({
    ...halfForEachKey(config.limits.keptAnswers),
    monotonic: clock.monotonic,
  });
  const allowedNetworks = config.security.allowedNetworks.map(parseNetwork).filter((network) => network !== undefined);
  const mayConnect = createAddressRule(allowedNetworks);

  const {
    readOnly: isReadOnly,
    webhooks: { isOn: sendsWebhooks },
  } = config;
  const statisticsStore = createStatisticsStore(database);
  const healthStore = createProviderHealthStore(database);
  const dropped = { write: () => Promise.resolve() };
  const statistics = createStatistics({
    // The counts of a process that changes nothing are dropped.
    store: isReadOnly ? { ...statisticsStore, ...dropped } : statisticsStore,
    healthStore: isReadOnly ? { ...healthStore, ...dropped } : healthStore,
    clock,
    random,
  });
  const publicUrl = config.publicUrl === undefined ? undefined : new URL(config.publicUrl);
  const { byKey: asksForKey, oidc: oidcSettings } = config.signIn;
  const peopleFeature = createPeopleFeature(basis, {
    ...{ secrets, allScopes },
    ...{ settings: oidcSettings, fetch: dependencies.issuerFetch },
  });
  const { people, issuer } = peopleFeature;
  const apiKeyFeature = createApiKeyFeature(basis, {
    adminKey: config.security.adminApiKey,
    refusedKeysLimit: config.http.refusedKeysLimit,
    version,
    people,
    log,
  });
  const { apiKeys, authentication, refusedKeys } = apiKeyFeature;
  const sessionFeature = createSessionFeature(basis, {
    ...{ people, issuer, publicUrl },
    apiKeys,
    authentication,
    refusedKeys,
    secrets,
    version,
    isReadOnly,
  });
  const { sessions } = sessionFeature;
  const oidc =
    oidcSettings === undefined || issuer === undefined || config.publicUrl === undefined
      ? undefined
      : createOidcFeature(basis, {
          ...{ settings: oidcSettings, feature: peopleFeature, issuer, publicUrl: config.publicUrl },
          ...{ sessions, refusedKeys, secrets, isReadOnly, log },
        });
  const webhooks = (dependencies.createWebhooks ?? createWebhooks)({
    ...basis,
    mayConnect,
    lookUp,
    proxy: config.webhooks.proxy,
    version,
    log,
    integrations: createDirectory(basis, secrets),
    serialise: serialiseEvent,
    observer: statistics.observing(telemetry?.observing(metrics.webhooks) ?? metrics.webhooks),
  });
  // Where nothing may be written, events stay in their outboxes.
  const relay = isReadOnly ? { ...webhooks.relay, nudge: () => undefined } : webhooks.relay;
  const deleteTestRuns = createTestRunDeletion(basis, blobs);
  const evaluationKeeping = createEvaluationKeeping(basis, blobs);
  const promptFeature = createPromptFeature(basis, {
    verdicts: createVerdicts(basis, providers),
    isKnownProvider: (id) => providers.get(id) !== undefined,
    async onDelete(promptId) {
      await deleteTestRuns(promptId);
      await evaluationKeeping.deleteAllOf(promptId);
    },
    relay,
    // Made below: nothing is counted before.
    invocations: {
      canaryFailures: (id, since) => invocationFeature.canaryFailures(id, since),
      list: (filter) => invocationFeature.list(filter),
      flush: () => invocationFeature.flush(),
    },
    retentionMs: config.limits.invocationRetentionMs,
    log,
  });
  const { prompts, gated } = promptFeature;
  const costs = createCostFeature(basis, providers);
  const { prices } = costs;
  const budgets = createBudgetFeature(basis, ({ invocationId, ...excess }, error) => {
    if (error === undefined) metrics.countExcess(excess.provider, excess.model);
    const said =
      error === undefined ? 'a call has cost more than it could cost at most' : 'a model could not be blocked';
    log.error({ invocation_id: invocationId, ...excess, error }, said);
  });
  metrics.watch({
    providers: () => providers.load(),
    memory: () => memory.use,
    budgets: () => budgets.uses.all(),
    migration: () => dependencies.data.progress(),
  });
  const invocationFeature = createInvocationFeature({
    ...basis,
    log,
    onInterrupted: metrics.countInterrupted,
    statistics,
    prices,
    budgets,
    retentionMs: config.limits.invocationRetentionMs,
    content: { mode: config.invoke.content, retentionMs: config.limits.invocationContentRetentionMs, secrets },
    addedUpUntil: costsAddedUpUntil(basis),
    times: dependencies.invocationLogTimes,
  });
  const { invocations } = invocationFeature;
  const generation = createGeneration({
    prompts,
    providers,
    invocations,
    clock,
    metrics,
    log,
    memory,
    cacheMaxBytes: config.invoke.cacheMaxBytes,
    answerCheckMs: dependencies.answerCheckMs,
  });
  const { planner, generator, prepare } = generation;
  const { timeoutMs } = config.invoke;
  const turns = createTurns();
  const testRunFeature = createTestRunFeature({
    ...basis,
    prompts,
    planner,
    generator,
    invocations,
    blobs,
    deleteAllOf: deleteTestRuns,
    metrics,
    log,
    memory,
    keptBytes,
    timeoutMs,
    retentionMs: config.limits.testRunRetentionMs,
  });
  const { testRuns } = testRunFeature;
  const datasetFeature = createDatasetFeature(basis, blobs, invocationFeature.kept, {
    async named(versionIds) {
      return new Set([...(await evaluationKeeping.named(versionIds)), ...(await gated.versions(versionIds))]);
    },
    isGated: gated.has,
  });
  const { datasets } = datasetFeature;
  const evaluationFeature = createEvaluationFeature(
    {
      ...basis,
      ...{ authentication, people, prompts, datasets, planner, generator, checker: generation.checker, providers },
      ...{ invocations, prices, budgets: budgets.budgets, blobs, metrics, log, memory, keptBytes, timeoutMs },
    },
    dependencies.evaluationTimes,
  );
  const { evaluations } = evaluationFeature;
  const markFeature = createMarkFeature(basis, blobs, { evaluations, datasets, planner });
  const gateFeature = createGateFeature(basis, {
    settings: promptFeature.gates,
    datasets,
    providers,
    evaluations,
    judges: markFeature.marks,
  });
  const audit = createAuditFeature(database, indexes, isReadOnly, () => dependencies.data.progress() !== undefined);
  const { records, flush } = invocationFeature;
  const spending = createSpendingFeature({ ...basis, records, prompts, flush, timeoutMs });
  const compatible = createCompatibleFeature({ prompts, planner, prepare, providers, timeoutMs, clock, turns });

  const locationFeature = createLocationFeature(basis);
  const { locations } = locationFeature;
  const integrationFeature = createIntegrationFeature(basis, {
    locations,
    secrets,
    checkUrl: (url) => checkTarget(url, mayConnect),
    onCounted: (counts) => {
      metrics.setStoredSecrets(counts);
    },
    engine: webhooks.engine,
  });
  const { integrations, storedSecrets } = integrationFeature;
  const catalog = createCatalog(basis, locations, relay);
  const { categories, products } = catalog;
  const { installation } = dependencies;
  const orders = createOrdersFeature({ ...basis, locations, categories, products, relay, installation });

  const chores: readonly Chore[] = [
    ...[
      promptFeature,
      invocationFeature,
      testRunFeature,
      datasetFeature,
      evaluationFeature,
      orders,
      integrationFeature,
      costs,
      budgets,
      audit,
      spending,
    ].flatMap(({ chores: own }): readonly Chore[] => own),
    { name: 'expired documents', everyMs: 60_000, run: createExpiry({ database, indexes, now: clock.now, log }) },
    // What nobody sends does not expire because of it.
    ...(sendsWebhooks
      ? [
          { name: 'held deliveries', everyMs: 10 * 60_000, run: () => webhooks.retention.expireHeld() },
          { name: 'failing receivers', everyMs: 10_000, run: () => webhooks.alerts.tell() },
        ]
      : []),
    {
      name: 'statistics',
      everyMs: dependencies.statisticsEveryMs ?? 5_000,
      onlyReads: true,
      run: () => statistics.flush(),
    },
    { name: 'waiting deliveries', everyMs: 15_000, onlyReads: true, run: () => webhooks.measureBacklog() },
    { name: 'deleted integrations', everyMs: 60_000, run: () => webhooks.retention.sweepDeleted() },
    { name: 'old events of the feed', everyMs: 3_600_000, run: () => webhooks.shortenFeed() },
    { name: 'orphaned deliveries', everyMs: 24 * 3_600_000, run: () => webhooks.retention.sweepOrphans() },
  ];

  const sharedForMs = dependencies.probesSharedForMs ?? 1_000;
  const checkStorage = shareFor(sharedForMs, clock, () =>
    within(storageCheckLimitMs, blobs.check(), () => {
      throw new Error(`no answer within ${storageCheckLimitMs} ms`);
    }),
  );
  const handlers: OperationHandlers = {
    ...promptFeature.operations,
    ...invokeOperations({ planner, prepare, budgets: budgets.budgets, ...config.invoke }),
    ...providerTestOperations({ planner, providers, prepare, timeoutMs }),
    ...testRunFeature.operations,
    ...datasetFeature.operations,
    ...evaluationFeature.operations,
    ...markFeature.operations,
    ...gateFeature.operations,
    ...invocationFeature.operations(prompts, datasetFeature.copies),
    ...providerOperations(providers, statistics),
    ...costs.operations,
    ...budgets.operations,
    ...spending.operations,
    ...compatible.operations,
    ...mcpOperations({ prompts, version, publicUrl, corsOrigins: config.http.corsOrigins }),
    ...apiKeyFeature.operations,
    ...sessionFeature.operations,
    ...peopleFeature.operations,
    ...audit.operations,
    ...locationFeature.operations,
    ...catalog.operations,
    ...orders.operations,
    ...integrationFeature.operations(webhooks, statistics),
    ...feedOperations(webhooks.feed),
    ...webhookOperations({ ...webhooks, integrations, clock }),
    ...eventOperations(),
    ...statisticsOperations({ statistics, integrations, prompts }),
    ...attentionOperations(
      createAttention({
        ...{ providers, statistics, integrations, clock, canaries: promptFeature.canaries },
        budgets: budgets.budgets,
        invocations: invocationFeature,
        receivers: webhooks,
        storage: { check: checkStorage, failure: () => blobs.failure() },
        issuer: issuer && oidcSettings && { name: oidcSettings.name, failure: issuer.failure },
      }),
    ),
    ...serviceOperations({
      version,
      metrics,
      basePath,
      signIn: {
        api_key: asksForKey,
        ...(oidcSettings && { oidc: { name: oidcSettings.name, path: '/oidc/sign-in' } }),
      },
      isReadOnly,
      sendsWebhooks,
      clock,
      sharedForMs,
      async checkDatabase() {
        // On a full disk a write would make the storage engine stop.
        if (await isDatabaseFull()) throw databaseFull(undefined);
        await database.ping();
      },
      checkStorage,
      secretsKey: () => storedSecrets.worst,
      data: dependencies.data,
      isStopping: dependencies.isStopping,
    }),
  };

  const finders: Finders = {
    prompts: prompts.get,
    evaluations: evaluations.get,
    locations: locations.get,
    location_id: (id, reach) => requireLocation(locations, id, reach),
    categories: categories.get,
    products: products.get,
    orders: orders.orders.get,
    integrations: integrations.get,
  };

  const idempotency = createIdempotency({
    clock,
    random,
    store: createIdempotencyStore(database),
    keptBytes,
    memory,
    onError: (error, id) => {
      log.warn({ error, record: id }, 'the answer for an Idempotency-Key was not stored');
    },
  });
  const streams = createEventStreams({
    memory,
    times: dependencies.streamTimes,
    onChange: (active) => {
      metrics.setStreamsActive(active);
    },
  });
  const underWay = new Set<AbortController>();
  const shadow = config.http.contractReferee
    ? createShadow({
        document,
        countDisagreement: (operation) => {
          metrics.countRefereeDisagreement(operation);
        },
        log,
      })
    : undefined;
  const application = createRouter(
    limitPaths(handlers, finders),
    {
      authenticate: (caller) => sessions.authenticate(caller),
      watch: (principal, onEnd, isEndless) => sessions.watch(principal, onEnd, isEndless),
      rateLimiter: createRateLimiter(config.http.rateLimit),
      idempotency,
      memory,
      turns,
      lists: createListQueue({ places: database.pages.listsAtOnce }),
      streams,
      underWay,
      log,
      isReadOnly,
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
        createMessage: {
          idempotencyTermMs: () => paidTermMs(config.invoke.timeoutMs, undefined),
          keepsBody: { numbersAt: argumentsPath },
        },
        testProvider: { idempotencyTermMs: () => paidTermMs(config.invoke.timeoutMs, undefined) },
        createOrder: { isSelfIdempotent: true },
        createIntegration: { answerBox: secrets },
        countMessageTokens: { keepsBody: { numbersAt: argumentsPath } },
        listModels: { isListedFromMemory: true },
        listEventTypes: { isListedFromMemory: true },
      },
      onExchange: (exchange) => {
        telemetry?.endRequest(exchange);
        recordExchange(exchange, log, metrics, statistics);
        shadow?.(exchange);
        dependencies.onExchange?.(exchange);
      },
    },
    [...tracedBy(telemetry), ...corsFor(config.http.corsOrigins)],
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
        changes: new URL('../dist/changes.html', import.meta.url),
        eventTypes,
        redoc: new URL('../dist/redoc.js', import.meta.url),
        clientPackage: new URL('../dist/client.tgz', import.meta.url),
      }),
      ...plainPages(oidc?.pages, log),
      ...createDashboard({ folder: new URL('../dist/dashboard/', import.meta.url), basePath }),
    },
    plainPages(oidc?.forms, log),
  );
  application.set('trust proxy', [...config.http.trustedProxies]);
  return {
    application,
    apiKeyStore: apiKeyFeature.store,
    sessions,
    issuer,
    storedSecrets,
    chores: isReadOnly ? chores.filter(({ onlyReads }) => onlyReads === true) : chores,
    async prepare() {
      await Promise.all([prices.refresh(), budgets.budgets.refresh()]);
      await budgets.uses.read();
    },
    start() {
      if (!isReadOnly) webhooks.start(sendsWebhooks);
    },
    endEndlessAnswers() {
      streams.end(new ProblemError('shutting-down', { detail: 'This process is stopping.' }), 'endless');
    },
    endAnswers() {
      const detail = 'The service stopped before the answer was complete.';
      const headers = { 'retry-after': '5' };
      // A stream has called a provider, so clients must not repeat it by themselves.
      streams.end(new ProblemError('interrupted', { detail, headers: { ...headers, 'x-should-retry': 'false' } }));
      for (const ending of underWay) ending.abort(new ProblemError('interrupted', { detail, headers }));
      void testRuns.drain(0);
      void evaluationFeature.drain(0);
    },
    async drain(timeoutMs) {
      const end = clock.monotonic() + timeoutMs;
      await Promise.all([
        testRuns.drain(timeoutMs),
        evaluationFeature.drain(timeoutMs),
        idempotency.drain(timeoutMs),
        webhooks.stop(timeoutMs),
      ]);
      // What was called and what it cost is stored even if no time is left.
      const left = Math.max(leastRecordsMs, end - clock.monotonic());
      await Promise.all([statistics.close(left), generation.close(), invocationFeature.close(left)]);
    },
  };
}

/** Begins the span of each request. */
function tracedBy(telemetry: Telemetry | undefined): RequestHandler[] {
  if (telemetry === undefined) return [];
  return [
    (request, _response, next) => {
      telemetry.beginRequest(request);
      next();
    },
  ];
}

/** One key cannot use the whole budget. */
function halfForEachKey(perProcess: number): MemoryBudgetOptions {
  return { perKey: Math.floor(perProcess / 2), perProcess };
}

/** Milliseconds to store what is recorded when the process stops, at least. */
const leastRecordsMs = 2_000;

/** Milliseconds in addition to the deadline of a provider's call: for reading the prompt, rendering and storing. */
const paidTermMarginMs = 10_000;

/** A paid call is not repeated before its deadline has certainly passed. */
function paidTermMs(timeoutMs: number, requested: unknown): number {
  return (typeof requested === 'number' ? Math.min(requested, timeoutMs) : timeoutMs) + paidTermMarginMs;
}
