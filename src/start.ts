import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import packageJson from '../package.json' with { type: 'json' };
import { firstKeyId } from './access/api-keys/api-keys.ts';
import { allScopes } from './access/api-keys/feature.ts';
import { ensureFirstKey } from './access/api-keys/first-key.ts';
import { createApp, indexes, type AppOverrides } from './app.ts';
import { createBlobStore, tellingChecks, watchedBlobStore } from './storage/blobs/create-blob-store.ts';
import { reasonOf } from './access/people/sign-in-refusal.ts';
import type { Config } from './config/config.ts';
import { createHttpServer, type ConnectionLimits, type HttpServer } from './http/listener.ts';
import { checkAddress, closeServer, listen } from './http/listening.ts';
import { pageAddress } from './http/pages/page-files.ts';
import { createMetrics } from './observability/metrics.ts';
import { createLookUp } from './base/outbound/look-up.ts';
import { createStreamWatch } from './models/call/stream-watch.ts';
import { isListed } from './models/provider.ts';
import { createProviderRegistry } from './models/registry.ts';
import { createProviderHttp } from './models/transport/http.ts';
import { abortable } from './base/runtime/abortable.ts';
import { prepareDataDir } from './base/runtime/data-dir.ts';
import { startMaintenance } from './base/runtime/maintenance.ts';
import { scrub } from './base/runtime/scrub.ts';
import { system } from './base/runtime/system.ts';
import { checkKeys } from './base/secrets/check-keys.ts';
import { openSecretBox } from './base/secrets/open-secret-box.ts';
import type { Telemetry } from './observability/telemetry/telemetry.ts';
import { startDatabase, type DatabaseStartOptions } from './start-database.ts';

export interface StartOptions extends DatabaseStartOptions, AppOverrides {
  /** Shorter times for tests. */
  readonly connectionLimits?: ConnectionLimits;
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
    const { readOnly } = config;
    if (readOnly) print('READ_ONLY=on: nothing is changed, no provider is called, and no webhooks are sent.');
    else if (!config.webhooks.isOn) print('WEBHOOKS=off: this process sends no webhooks.');
    const needsDataDir = keepsFiles || config.security.secretKeys.length === 0;
    if (needsDataDir && !readOnly) await prepareDataDir(config.database.dataDir);
    const metrics = createMetrics();
    const telemetry = await startTelemetry(config.telemetry, log);
    if (telemetry !== undefined) cleanups.push(() => telemetry.close());
    const started = await startDatabase(options, indexes, metrics.database, cleanups);
    const { database, data, installation, patience } = started;

    const storage = await createBlobStore(config.storage, readOnly);
    const store = watchedBlobStore(storage.store, metrics.countStorageError);
    const blobs = tellingChecks({ ...storage, store }, options.clock ?? system.clock, (message) => {
      print(`Warning: ${message}`);
      log.warn(message);
    });
    cleanups.push(() => blobs.close());
    print(`Test-run results: ${storage.description}`);
    // The start does not wait for a bucket: only test runs and data sets need it.
    void blobs.check().catch(() => undefined);
    const lookUp = createLookUp({ servers: config.security.dnsServers });
    const http = createProviderHttp({ connections: config.providers.concurrency, lookUp, proxy: config.providerProxy });
    cleanups.push(() => http.close());
    const issuerHttp = createProviderHttp({
      connections: 8,
      maxResponseBytes: issuerAnswerBytes,
      repeatsStale: true,
      lookUp,
    });
    cleanups.push(() => issuerHttp.close());
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
      onImplausible: ({ model, ...said }) => {
        const provider = providers.get(said.provider);
        metrics.countImplausible(said.provider, provider && isListed(provider, model) ? model : 'other');
        // Callers choose the names of models.
        log.warn({ ...said, model: scrub(model) }, 'a provider gave numbers of tokens that are not plausible');
      },
      beginCall: telemetry?.beginCall,
    });
    const configured = providers.list().filter((provider) => provider.configured);
    print(`Providers: ${configured.map(({ id }) => id).join(', ')}`);

    const secrets = await openSecretBox(config.security.secretKeys, config.database.dataDir, readOnly);
    const { allowedNetworks } = config.security;
    if (allowedNetworks.length > 0) print(`Events may also be sent to: ${allowedNetworks.join(', ')}`);
    if (config.webhooks.proxy) print(`Events are sent through the proxy ${config.webhooks.proxy.origin}`);
    if (config.providerProxy) print(`Providers are called through the proxy ${config.providerProxy.origin}`);

    let stopping = false;
    const app = createApp({
      ...options,
      database,
      installation,
      blobs,
      providers,
      issuerFetch: issuerHttp.fetch,
      lookUp,
      secrets,
      metrics,
      telemetry,
      version: packageJson.version,
      data,
      isStopping: () => stopping,
      isDatabaseFull: started.isFull,
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
      !readOnly &&
      config.security.adminApiKey === undefined &&
      (await patience(() =>
        ensureFirstKey({ store: app.apiKeyStore, allScopes, print, clock: options.clock ?? system.clock }),
      ));
    await patience(() => app.prepare());
    const token = hasCreatedKey ? await abortable(app.sessions.createLink(firstKeyId), signal) : undefined;
    void providers.preload();
    // The start does not wait for the issuer: those who are signed in do not need it.
    app.issuer?.check().catch((error: unknown) => {
      const message = `The identity provider of OIDC_ISSUER does not answer as it should (${reasonOf(error)}). Nobody can sign in with an account until it does.`;
      print(`Warning: ${message}`);
      log.warn(message);
    });

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
        app.endEndlessAnswers();
        const ending = setTimeout(() => {
          app.endAnswers();
        }, answersEndAfter(shutdownTimeoutMs));
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

/** The largest answer of an identity provider that is read, in bytes. */
const issuerAnswerBytes = 256 * 1024;

/** Its packages are loaded only if something is to be sent. */
async function startTelemetry(
  { endpoint, ...signals }: Config['telemetry'],
  log: Logger,
): Promise<Telemetry | undefined> {
  if (endpoint === undefined) return undefined;
  const { createOpenTelemetry } = await import('./observability/telemetry/open-telemetry.ts');
  return createOpenTelemetry({ endpoint, ...signals, version: packageJson.version, log });
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

/** Answers end before all connections are cut, so that their callers get the problem, and records are written. */
function answersEndAfter(shutdownTimeoutMs: number): number {
  return Math.max(shutdownTimeoutMs / 2, shutdownTimeoutMs - 2_000);
}
