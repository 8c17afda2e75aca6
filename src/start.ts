import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import packageJson from '../package.json' with { type: 'json' };
import { firstKeyId } from './api-keys/api-keys.ts';
import { ensureFirstKey } from './api-keys/first-key.ts';
import { allScopes, createApp, indexes, type AppDependencies } from './app.ts';
import { createBlobStore, tellingChecks } from './blobs/create-blob-store.ts';
import type { Config } from './config/config.ts';
import { abortable } from './runtime/abortable.ts';
import { prepareDataDir } from './runtime/data-dir.ts';
import { checkDatabase } from './db/check.ts';
import { connectDatabase, DatabaseStartError } from './db/client.ts';
import { startEmbeddedDatabase, type EmbeddedDatabase } from './db/embedded/embedded-database.ts';
import { ensureInstallation } from './db/installation.ts';
import type { Migration } from './db/migrations/migration.ts';
import { migrations } from './db/migrations/migrations.ts';
import type { MigratorTimes } from './db/migrator.ts';
import { openData } from './db/open-data.ts';
import { openPages } from './db/open-pages.ts';
import { isTemporary, patiently, reasonOf } from './db/patience.ts';
import { createLookUp } from './outbound/look-up.ts';
import { checkAddress, closeServer, listen } from './http/listening.ts';
import { pageAddress } from './http/pages/page-files.ts';
import { createHttpServer, type ConnectionLimits, type HttpServer } from './http/listener.ts';
import type { Exchange } from './http/pipeline.ts';
import { checkKeys } from './secrets/check-keys.ts';
import { openSecretBox } from './secrets/open-secret-box.ts';
import { startMaintenance } from './runtime/maintenance.ts';
import { within } from './runtime/within.ts';
import { system } from './runtime/system.ts';
import { createMetrics } from './observability/metrics.ts';
import { createProviderHttp } from './providers/transport/http.ts';
import { createProviderRegistry } from './providers/registry.ts';
import { createStreamWatch } from './providers/call/stream-watch.ts';

export interface StartOptions {
  readonly config: Config;
  /** For the embedded database: `PATH`, proxies, pip settings. */
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Prints lines for the operator; not a log. */
  readonly print: (line: string) => void;
  /** Cancels the start. After the start it has no effect. */
  readonly signal?: AbortSignal;
  readonly onExchange?: (exchange: Exchange) => void;
  /** For tests that move the time. */
  readonly clock?: NonNullable<AppDependencies['clock']>;
  /** Other times for tests. */
  readonly createWebhooks?: NonNullable<AppDependencies['createWebhooks']>;
  /** Shorter times for tests. */
  readonly connectionLimits?: ConnectionLimits;
  /** Another time for tests. */
  readonly probesSharedForMs?: NonNullable<AppDependencies['probesSharedForMs']>;
  /** Another time for tests. */
  readonly statisticsEveryMs?: number;
  /** Another time for tests. */
  readonly answerCheckMs?: number;
  /** Other times for tests. */
  readonly streamTimes?: AppDependencies['streamTimes'];
  /** Other migrations for tests. */
  readonly migrations?: readonly Migration[];
  /** Shorter times for tests. */
  readonly migratorTimes?: MigratorTimes;
}

export interface StopOptions {
  /** Leaves out the delay in which load balancers notice that readiness fails. */
  readonly skipsDelay?: boolean;
}

export interface RunningService {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /**
   * Readiness fails immediately. After the configured delay, accepts no more connections, waits for work in progress
   * within the configured time, and closes everything.
   */
  stop(options?: StopOptions): Promise<void>;
}

/**
 * Starts the whole service: database (embedded if none is configured), object storage, providers, listener. If
 * something fails or the signal is aborted, everything that was started before is stopped again.
 *
 * @throws the reason of the signal, when that is aborted
 */
export async function startService(options: StartOptions): Promise<RunningService> {
  const { config, log, print, signal } = options;
  const cleanups: (() => Promise<void>)[] = [];
  const cleanUp = async (): Promise<void> => {
    for (const cleanup of cleanups.splice(0).reverse()) {
      await cleanup().catch((error: unknown) => {
        log.warn({ error }, 'an error occurred while stopping');
      });
    }
  };
  try {
    print(`prompt-gateway ${packageJson.version}`);
    for (const warning of config.warnings) print(`Warning: ${warning}`);
    await checkAddress(config.http.host, config.http.port);
    const keepsFiles = config.database.uri === undefined || config.storage.kind === 'files';
    if (keepsFiles || config.security.secretKeys.length === 0) await prepareDataDir(config.database.dataDir);
    const embedded = config.database.uri === undefined ? await startOwnDatabase(options, cleanups) : undefined;
    const uri = config.database.uri ?? embedded?.uri ?? '';
    const metrics = createMetrics();
    const connection = await connectDatabase({
      uri,
      databaseName: config.database.name,
      log,
      signal,
      observer: metrics.database,
    });
    cleanups.push(() => connection.close());
    // What is interrupted in these ends when the connections are closed.
    const patience = patienceOf(options, embedded !== undefined);
    if (config.database.check) await patience(() => checkDatabase(connection.db));
    const database = await patience(() => openPages(connection));
    let opening: Promise<unknown> = Promise.resolve();
    // A start that is stopped gives back the lease of a migration, so that no other process has to wait for it.
    const isOpen = (): Promise<unknown> => opening.catch(() => undefined);
    cleanups.push(async () => {
      await within(migrationStopMs, isOpen(), () => undefined);
    });
    const data = await patience(
      () =>
        (opening = openData({
          database,
          indexes,
          log,
          signal,
          openLong: () =>
            connectDatabase({ uri, databaseName: config.database.name, log, signal, isForLongCommands: true }),
          release: { name: packageJson.version, migrations: options.migrations ?? migrations },
          times: options.migratorTimes,
          ...system.clock,
        })),
    );
    cleanups.push(() => data.stop(migrationStopMs));
    const installation = await patience(() => ensureInstallation(database));

    const storage = await createBlobStore(config.storage);
    const blobs = tellingChecks(storage, (message) => {
      print(`Warning: ${message}`);
      log.warn(message);
    });
    cleanups.push(() => blobs.close());
    print(`Test-run results: ${storage.description}`);
    // The start does not wait for a bucket: only test runs need it.
    void blobs.check().catch(() => undefined);
    const lookUp = createLookUp({ servers: config.security.dnsServers });
    const http = createProviderHttp({ connections: config.providers.concurrency, lookUp });
    cleanups.push(() => http.close());
    const providers = createProviderRegistry({
      settings: config.providers,
      random: system.random,
      fetch: http.fetch,
      streamFetch: http.streamFetch,
      streamWatch: createStreamWatch({ clock: options.clock ?? system.clock }),
      onRetry: (notice) => {
        log.debug(notice, 'retrying the provider call');
      },
      onAttempt: metrics.countProviderAttempt,
    });
    const configured = providers.list().filter((provider) => provider.configured);
    print(`Providers: ${configured.map(({ id }) => id).join(', ')}`);

    const secrets = await openSecretBox(config.security.secretKeys, config.database.dataDir);
    const { allowedNetworks } = config.security;
    if (allowedNetworks.length > 0) print(`Events may also be sent to: ${allowedNetworks.join(', ')}`);

    let stopping = false;
    const { onExchange, probesSharedForMs, statisticsEveryMs, answerCheckMs, createWebhooks, clock } = options;
    const { streamTimes } = options;
    const app = createApp({
      config,
      database,
      installation,
      blobs,
      providers,
      lookUp,
      secrets,
      metrics,
      log,
      streamTimes,
      version: packageJson.version,
      data,
      isStopping: () => stopping,
      ...(embedded === undefined ? {} : { isDatabaseFull: () => embedded.isFull() }),
      ...(probesSharedForMs === undefined ? {} : { probesSharedForMs }),
      ...(statisticsEveryMs === undefined ? {} : { statisticsEveryMs }),
      ...(answerCheckMs === undefined ? {} : { answerCheckMs }),
      ...(clock === undefined ? {} : { clock }),
      ...(onExchange === undefined ? {} : { onExchange }),
      ...(createWebhooks === undefined ? {} : { createWebhooks }),
    });
    for (const line of checkKeys({
      counts: await patience(() => app.storedSecrets.count()),
      keyId: secrets.keyId,
      isRequired: config.security.secretKeysCheck,
      source: config.security.secretKeys.length > 0 ? 'SECRETS_KEY' : 'SECRETS_KEY is not set, and the key in DATA_DIR',
    })) {
      print(line);
    }
    const hasCreatedKey =
      config.security.adminApiKey === undefined &&
      (await patience(() =>
        ensureFirstKey({ store: app.apiKeyStore, allScopes, print, clock: options.clock ?? system.clock }),
      ));
    const token = hasCreatedKey ? await abortable(app.sessions.createLink(firstKeyId), signal) : undefined;
    void providers.preload();

    const listener = createHttpServer(app.application, options.connectionLimits);
    const url = await listen(listener.server, config.http.host, config.http.port);
    if (signal?.aborted === true) await closeServer(listener, { grace: 0, limit: 0 }, log);
    signal?.throwIfAborted();
    const maintenance = startMaintenance(app.chores, log, system.random);
    app.start();
    data.start();
    if (data.progress() !== undefined) print('Data: migrating to this release in the background (progress: GET /)');
    const { basePath } = config.http;
    print(`Listening on ${url} (reference: ${pageAddress(url, basePath, '/docs')})`);
    const dashboard = pageAddress(url, basePath, '/dashboard');
    print(`Dashboard: ${dashboard}`);
    if (token !== undefined) {
      // Browsers do not send the fragment, so no log of a proxy contains the token.
      print(`Sign in to the dashboard as administrator (once, within 10 minutes): ${dashboard}#sign-in=${token}`);
    }
    log.info({ url }, 'listening');
    return {
      url,
      async stop({ skipsDelay = false } = {}) {
        stopping = true;
        const { shutdownDelayMs, shutdownGraceMs, shutdownTimeoutMs } = config.http;
        if (!skipsDelay) await delayStop(listener, shutdownDelayMs);
        const end = performance.now() + shutdownTimeoutMs;
        const ending = setTimeout(() => {
          app.endStreams();
        }, streamsEndAfter(shutdownTimeoutMs));
        await closeServer(listener, { grace: shutdownGraceMs, limit: shutdownTimeoutMs }, log);
        await app.drain(Math.max(0, end - performance.now()));
        clearTimeout(ending);
        await maintenance.stop(Math.max(0, end - performance.now()));
        await cleanUp();
      },
    };
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

/**
 * Gives load balancers the time to notice that readiness fails. In the second half of it they should have noticed, so
 * answers announce the end of their connection: the next connection of the client goes to another process.
 */
async function delayStop(listener: HttpServer, milliseconds: number): Promise<void> {
  await sleep(milliseconds / 2);
  listener.announceClose();
  await sleep(milliseconds / 2);
}

/** Streams end before all connections are cut, so that their callers get the problem, and stored answers are written. */
function streamsEndAfter(shutdownTimeoutMs: number): number {
  return Math.max(shutdownTimeoutMs / 2, shutdownTimeoutMs - 2_000);
}

/**
 * Milliseconds for which a start waits for a database that stops answering. An embedded one may be building an index for
 * another process, and is replaced if it fails.
 */
const remotePatienceMs = 30_000;
const embeddedPatienceMs = 30 * 60_000;
const remindEveryMs = 10_000;
/** Milliseconds for the command of a migration that is in progress when the process stops. */
const migrationStopMs = 1_000;

/** Creates a function that repeats a part of the start while the database is unavailable, until the start is stopped. */
function patienceOf(
  { print, signal }: StartOptions,
  isEmbedded: boolean,
): <Result>(part: () => Promise<Result>) => Promise<Result> {
  const limitMs = isEmbedded ? embeddedPatienceMs : remotePatienceMs;
  return async (part) => {
    let remindedMs = 0;
    try {
      const waiting = patiently(part, {
        limitMs,
        isOver: () => signal?.aborted === true,
        onWait(reason, waitedMs) {
          if (waitedMs < remindedMs) return;
          remindedMs = waitedMs + remindEveryMs;
          print(`Waiting for the database, which is busy or does not answer: ${reason}`);
        },
      });
      return await abortable(waiting, signal);
    } catch (error) {
      if (error instanceof DatabaseStartError || !isTemporary(error)) throw error;
      throw new DatabaseStartError(`The database stopped answering while the service started: ${reasonOf(error)}`, {
        cause: error,
      });
    }
  };
}

async function startOwnDatabase(options: StartOptions, cleanups: (() => Promise<void>)[]): Promise<EmbeddedDatabase> {
  const { config, environment, log, print } = options;
  const { dataDir, cacheDir } = config.database;
  print('Database: starting an embedded server (the first start may take a minute) …');
  const embedded = await startEmbeddedDatabase({ dataDir, cacheDir, env: environment, log, signal: options.signal });
  cleanups.push(() => embedded.stop());
  print(`Database: ${embedded.engine}, data in ${dataDir}`);
  if (!embedded.isProtected) {
    print('Warning: the embedded database has no password. Every user of this machine can read and change the data.');
  }
  return embedded;
}
