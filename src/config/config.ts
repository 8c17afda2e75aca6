import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { BlobStorage } from '../storage/blobs/create-blob-store.ts';
import type { ProxySettings } from '../base/outbound/proxy.ts';
import { findNearMisses } from './near-misses.ts';
import { readSettings, variableText, type Environment } from './read-settings.ts';
import { allSettings, type SettingValues } from './settings.ts';
import { defaultCacheDir } from '../storage/db/embedded/cache-dir.ts';
import { findSettingsMistakes, providerVariables, type ProviderSettings } from '../models/provider-settings.ts';
import type { VendorId } from '../models/vendors/index.ts';
import type { VendorSettings } from '../models/vendors/vendor.ts';

export { readArguments } from './arguments.ts';
export { helpText } from './help.ts';

/** The whole configuration: read, checked and frozen. It contains secrets: never log it. */
export type Config = ReturnType<typeof arrange>;

/** The environment has mistakes. There is one sentence for each; it names the variable and quotes no secret. */
export class ConfigError extends Error {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(`The configuration has mistakes:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`);
    this.name = 'ConfigError';
    this.mistakes = mistakes;
  }
}

/**
 * Creates the configuration from environment variables; nothing else in the service reads them. `settings.ts` describes
 * each.
 *
 * @param environment usually `process.env`
 * @throws ConfigError that names every mistake
 */
export function loadConfig(environment: Environment): Config {
  const { values, mistakes } = readSettings(allSettings, environment);
  mistakes.push(
    ...findStorageMistakes(environment),
    ...findProxyMistakes(environment),
    ...findProviderMistakes(values),
    ...findSignInMistakes(environment, mistakes),
  );
  // Many machines have `no_proxy` for other programs.
  const hasProxy = 'WEBHOOK_PROXY_URL' in values || 'PROVIDER_PROXY_URL' in values;
  const names = Object.keys(allSettings).filter((name) => hasProxy || name !== 'NO_PROXY');
  const nearMisses = findNearMisses(names, environment);
  if (mistakes.length > 0) throw new ConfigError([...mistakes, ...nearMisses]);
  // Without mistakes every setting with a default has a value of its format's type.
  const set = values as unknown as SettingValues;
  return deepFreeze(arrange(set, environment, [...nearMisses, ...findKeyWarnings(set), ...findTimeWarnings(set)]));
}

function arrange(set: SettingValues, environment: Environment, warnings: readonly string[]) {
  const dataDir = resolve(set.DATA_DIR);
  const home = variableText(environment, 'HOME') ?? homedir();
  const refused = unlessOff(set.REFUSED_KEYS_LIMIT);
  const providers: ProviderSettings = {
    builtIn: builtInProviders(set),
    compatible: set.OPENAI_COMPATIBLE_PROVIDERS,
    models: set.PROVIDER_MODELS,
    concurrency: set.PROVIDER_CONCURRENCY,
  };
  return {
    http: {
      host: set.HOST,
      port: set.PORT,
      /** Without a slash at its end; empty without one. */
      basePath: set.BASE_PATH ?? '',
      /** Undefined means no limit. */
      rateLimit: unlessOff(set.RATE_LIMIT),
      refusedKeysLimit: refused && { refusals: refused.requests, windowSeconds: refused.windowSeconds },
      trustedProxies: set.TRUSTED_PROXIES,
      corsOrigins: set.CORS_ORIGINS ?? [],
      shutdownDelayMs: set.SHUTDOWN_DELAY_MS,
      shutdownTimeoutMs: set.SHUTDOWN_TIMEOUT_MS,
      shutdownGraceMs: set.SHUTDOWN_GRACE_MS,
      contractReferee: set.CONTRACT_REFEREE,
    },
    security: {
      /** Undefined: the first start creates a key. */
      adminApiKey: set.ADMIN_API_KEY,
      /** The current one first; empty if the key is a file in the data folder. */
      secretKeys: set.SECRETS_KEY ?? [],
      secretKeysCheck: set.SECRETS_KEY_CHECK,
      /** Undefined means those of the system. */
      dnsServers: set.DNS_SERVERS,
      allowedNetworks: set.WEBHOOK_ALLOWED_NETWORKS ?? (isForTrying(set) ? loopbackNetworks : []),
    },
    /** Where browsers see the service, without a slash at its end; undefined: as they say. */
    publicUrl: set.PUBLIC_URL?.replace(/\/+$/, ''),
    signIn: {
      /** Whether the page asks for an API key. */
      byKey: set.SIGN_IN === 'all',
      /** Undefined without an identity provider. */
      oidc: oidcOf(set),
    },
    database: {
      /** Undefined means the embedded database. */
      uri: set.MONGODB_URI,
      name: set.MONGODB_DATABASE,
      check: set.DATABASE_CHECK,
      dataDir,
      cacheDir: set.CACHE_DIR === undefined ? defaultCacheDir(environment, home) : resolve(set.CACHE_DIR),
    },
    storage: storageOf(set, dataDir, environment),
    invoke: {
      timeoutMs: set.INVOKE_TIMEOUT_MS,
      cacheMaxAge: set.INVOKE_CACHE_MAX_AGE,
      cacheMaxBytes: set.INVOKE_CACHE_MAX_MB * mebibyte,
      /** Of which invocations the content is kept. */
      content: set.INVOCATION_CONTENT,
    },
    limits: {
      requestMemory: set.REQUEST_MEMORY_MB * mebibyte,
      keptAnswers: set.KEPT_ANSWERS_MB * mebibyte,
      testRunRetentionMs: set.TEST_RUN_RETENTION_DAYS * 24 * 3_600_000,
      invocationRetentionMs: set.INVOCATION_RETENTION_DAYS * 24 * 3_600_000,
      invocationContentRetentionMs: set.INVOCATION_CONTENT_RETENTION_DAYS * 24 * 3_600_000,
    },
    providers,
    /** Undefined for direct connections. */
    providerProxy: proxyOf(set.PROVIDER_PROXY_URL, set.PROVIDER_PROXY_RESOLVES, set.NO_PROXY),
    /** Nothing is changed, and no provider is called. */
    readOnly: set.READ_ONLY,
    webhooks: {
      /** Whether deliveries are sent. */
      isOn: set.WEBHOOKS && !set.READ_ONLY,
      /** Undefined for direct connections. */
      proxy: proxyOf(set.WEBHOOK_PROXY_URL, set.WEBHOOK_PROXY_RESOLVES, set.NO_PROXY),
    },
    log: { level: set.LOG_LEVEL },
    telemetry: {
      /** Undefined: nothing is sent. */
      endpoint: set.OTEL_EXPORTER_OTLP_ENDPOINT,
      sendsTraces: set.OTEL_TRACES_EXPORTER,
      sendsMetrics: set.OTEL_METRICS_EXPORTER,
    },
    /** Messages to the operator about variables that look misspelt or should be set. */
    warnings,
  };
}

const mebibyte = 1024 * 1024;

function unlessOff<Limit>(limit: Limit | 'off'): Limit | undefined {
  return limit === 'off' ? undefined : limit;
}

/** Removes the service's own variables that are blank, which means the same as not set. */
export function dropBlankVariables(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(allSettings)) {
    if (environment[name]?.trim() === '') Reflect.deleteProperty(environment, name);
  }
}

/** Processes that share a database can be on different machines, each with its own folder and so its own key. */
function findKeyWarnings({ MONGODB_URI, SECRETS_KEY }: SettingValues): string[] {
  if (MONGODB_URI === undefined || SECRETS_KEY !== undefined) return [];
  return [
    "SECRETS_KEY is not set. Integrations' secrets are encrypted with a key in DATA_DIR, which every process on this database needs.",
  ];
}

/** Milliseconds of a stop besides the calls of an invocation: to end answers early, and to read, wait and store. */
const stopMarginMs = 5_000;

function findTimeWarnings({ SHUTDOWN_TIMEOUT_MS, INVOKE_TIMEOUT_MS }: SettingValues): string[] {
  const least = INVOKE_TIMEOUT_MS + stopMarginMs;
  if (SHUTDOWN_TIMEOUT_MS >= least) return [];
  return [
    `SHUTDOWN_TIMEOUT_MS is ${SHUTDOWN_TIMEOUT_MS}, and INVOKE_TIMEOUT_MS is ${INVOKE_TIMEOUT_MS}: each stop interrupts invocations that still have time. Set SHUTDOWN_TIMEOUT_MS to ${least} or more.`,
  ];
}

const loopbackNetworks = ['127.0.0.0/8', '::1/128'];

/** A service with default settings can be reached only from the same machine, and its receivers are there too. */
function isForTrying({ MONGODB_URI, HOST }: SettingValues): boolean {
  return MONGODB_URI === undefined && /^(127(\.\d+){3}|::1|localhost)$/.test(HOST);
}

function storageOf(set: SettingValues, dataDir: string, environment: Environment): BlobStorage {
  if (set.S3_BUCKET === undefined) return { kind: 'files', directory: join(dataDir, 'files') };
  return {
    kind: 's3',
    bucket: set.S3_BUCKET,
    endpoint: set.S3_ENDPOINT,
    region: set.S3_REGION ?? variableText(environment, 'AWS_REGION') ?? 'us-east-1',
    forcePathStyle: set.S3_FORCE_PATH_STYLE ?? set.S3_ENDPOINT !== undefined,
    checksums: set.S3_CHECKSUMS,
    prefix: set.S3_PREFIX?.replace(/\/?$/, '/') ?? '',
  };
}

function oidcOf(set: SettingValues) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = set;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return {
    ...{ issuer, clientId, clientSecret, scopes: set.OIDC_SCOPES, name: set.OIDC_NAME },
    rolesClaim: set.OIDC_ROLES_CLAIM,
    /** By group. */
    roles: set.OIDC_ROLES,
    defaultRole: set.OIDC_DEFAULT_ROLE,
  };
}

/** What sign-in needs together. @param found mistakes in single settings, which are not reported twice */
function findSignInMistakes(environment: Environment, found: readonly string[]): string[] {
  const has = (name: string): boolean => variableText(environment, name) !== undefined;
  const isWrong = (name: string): boolean => found.some((mistake) => mistake.startsWith(`${name}:`));
  const mistakes: string[] = [];
  if (!has('OIDC_ISSUER')) {
    const alone = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'].filter((name) => has(name) && !isWrong(name));
    mistakes.push(...alone.map((name) => `${name}: has no effect without OIDC_ISSUER, which is not set.`));
    if (variableText(environment, 'SIGN_IN') === 'oidc') {
      mistakes.push('SIGN_IN: oidc needs OIDC_ISSUER, which is not set.');
    }
  } else {
    const missing = ['PUBLIC_URL', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'].filter((name) => !has(name));
    mistakes.push(...missing.map((name) => `${name}: OIDC_ISSUER needs it, and it is not set.`));
    if (/^(\{\s*\})?$/.test(variableText(environment, 'OIDC_ROLES') ?? '') && !has('OIDC_DEFAULT_ROLE')) {
      mistakes.push('OIDC_ROLES: without it and OIDC_DEFAULT_ROLE nobody has a role. Set one of them.');
    }
  }
  const publicUrl = variableText(environment, 'PUBLIC_URL');
  if (publicUrl !== undefined && !isWrong('PUBLIC_URL') && !isWrong('BASE_PATH')) {
    const path = new URL(publicUrl).pathname.replace(/\/+$/, '');
    const basePath = variableText(environment, 'BASE_PATH') ?? '';
    if (path !== basePath) mistakes.push(`PUBLIC_URL: its path must be BASE_PATH, "${basePath}", found "${path}".`);
  }
  return mistakes;
}

/** If an object store is configured without a bucket, results must not go to local files unnoticed. */
function findStorageMistakes(environment: Environment): string[] {
  if (variableText(environment, 'S3_BUCKET') !== undefined) return [];
  return ['S3_ENDPOINT', 'S3_PREFIX']
    .filter((name) => variableText(environment, name) !== undefined)
    .map((name) => `${name}: has no effect without S3_BUCKET, which is not set.`);
}

function findProxyMistakes(environment: Environment): string[] {
  return ['WEBHOOK_PROXY', 'PROVIDER_PROXY']
    .filter((name) => variableText(environment, `${name}_URL`) === undefined)
    .filter((name) => variableText(environment, `${name}_RESOLVES`) === 'on')
    .map((name) => `${name}_RESOLVES: has no effect without ${name}_URL, which is not set.`);
}

function proxyOf(
  address: SettingValues['WEBHOOK_PROXY_URL'],
  resolves: boolean,
  isBypassed: SettingValues['NO_PROXY'] = () => false,
): ProxySettings | undefined {
  return address && { ...address, resolves, isBypassed };
}

/** Finds mistakes in the combination of the two variables of further providers, after each was read. */
function findProviderMistakes(values: Readonly<Record<string, unknown>>): string[] {
  if (!('OPENAI_COMPATIBLE_PROVIDERS' in values && 'PROVIDER_MODELS' in values)) return [];
  const { OPENAI_COMPATIBLE_PROVIDERS: compatible, PROVIDER_MODELS: models } = values as unknown as SettingValues;
  const providersAlone = findSettingsMistakes({ builtIn: {}, compatible, models: {}, concurrency: 1 });
  const both = findSettingsMistakes({ builtIn: {}, compatible, models, concurrency: 1 });
  return [
    ...providersAlone.map((mistake) => `OPENAI_COMPATIBLE_PROVIDERS: ${mistake}`),
    ...both.filter((mistake) => !providersAlone.includes(mistake)).map((mistake) => `PROVIDER_MODELS: ${mistake}`),
  ];
}

/** The settings of each provider with at least one variable. */
function builtInProviders(values: Readonly<Record<string, unknown>>): ProviderSettings['builtIn'] {
  const builtIn: { [Id in VendorId]?: VendorSettings } = {};
  for (const { name, provider, setting } of providerVariables) {
    const value = values[name];
    if (typeof value === 'string') builtIn[provider] = { ...builtIn[provider], [setting]: value };
  }
  return builtIn;
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
