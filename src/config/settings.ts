import type { z } from 'zod';
import {
  compatibleProvidersVariable,
  defaultProviderConcurrency,
  providerVariables,
} from '../models/provider-settings.ts';
import {
  choice,
  httpAddress,
  integer,
  nameServers,
  networks,
  noProxy,
  origins,
  proxyAddress,
  rateLimit,
  role,
  rolesByGroup,
  secretKeys,
  secureAddress,
  text,
  visibleText,
  type Format,
} from './formats.ts';
import { compatibleProviders, modelsByProvider } from './provider-formats.ts';

/** One environment variable. */
export interface Setting {
  readonly group: string;
  /** A sentence or two, for `--help` and `.env.example`. */
  readonly description: string;
  readonly format: Format<unknown>;
  /** Used if the variable is not set. Written as in the environment, and read by the same format. */
  readonly default?: string;
  /** What happens without the variable, if there is no fixed default. */
  readonly otherwise?: string;
  readonly example?: string;
  /** True for values that must never be printed or logged. */
  readonly secret?: boolean;
}

const onOff = { on: true, off: false };
const otlpOrNone = { otlp: true, none: false };

/**
 * Every setting of the service itself. Configuration, `--help` and `.env.example` are all made from this table and
 * from that of the built-in providers.
 */
const settings = {
  HOST: {
    group: 'HTTP',
    description: 'Address to listen on. 0.0.0.0 or :: means every interface.',
    format: text('a host name or IP address such as 127.0.0.1', /^[A-Za-z0-9:][A-Za-z0-9.:%_-]{0,254}$/),
    default: '127.0.0.1',
  },
  PORT: {
    group: 'HTTP',
    description: 'Port to listen on. 0 means any free port.',
    format: integer(0, 65535),
    default: '8080',
  },
  BASE_PATH: {
    group: 'HTTP',
    description:
      'Path that a proxy adds in front of the service and removes from each request. The dashboard, the reference pages, Location and Link headers contain it.',
    format: text(
      'a path such as /gateway, with letters, digits and -._~, without a slash at its end',
      /^(?=.{1,200}$)(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+)+$/,
    ),
    otherwise: 'none',
    example: '/gateway',
  },
  PUBLIC_URL: {
    group: 'HTTP',
    description:
      'Address at which browsers see the service, with BASE_PATH if that is set. Cookies of the dashboard are for this address alone, and an identity provider sends people back to it. http only on the loopback.',
    format: secureAddress,
    otherwise: 'the address that the request names',
    example: 'https://gateway.example.com/gateway',
  },
  RATE_LIMIT: {
    group: 'HTTP',
    description: 'Requests allowed per API key and process, as <requests>/<seconds>s, or off.',
    format: rateLimit,
    default: '6000/60s',
  },
  REFUSED_KEYS_LIMIT: {
    group: 'HTTP',
    description:
      'API keys that may be refused per client address (IPv6: per /64) and process, as <refusals>/<seconds>s, or off. Above this limit, keys that were not accepted before get 429 and are not checked. RATE_LIMIT does not change this limit. Behind a load balancer, set TRUSTED_PROXIES; otherwise all clients share one limit.',
    format: rateLimit,
    default: '100/60s',
  },
  TRUSTED_PROXIES: {
    group: 'HTTP',
    description:
      "Networks of the proxies and load balancers in front of the service, separated by commas, or none. The client's address is the last address in X-Forwarded-For that is not in these networks.",
    format: networks,
    default: 'none',
    example: '10.0.0.0/8,fd00::/8',
  },
  CORS_ORIGINS: {
    group: 'HTTP',
    description: 'Origins whose web pages may call the API, separated by commas.',
    format: origins,
    otherwise: 'none',
    example: 'https://app.example.com,http://localhost:3000',
  },
  SHUTDOWN_DELAY_MS: {
    group: 'HTTP',
    description:
      'Time after SIGTERM, in milliseconds, in which readiness is 503 and all requests are still served, so that load balancers stop sending requests before the service stops accepting them. Set it to twice the time that the load balancer needs to notice, such as 10000. Ctrl-C skips it.',
    format: integer(0, 600_000),
    default: '0',
  },
  SHUTDOWN_TIMEOUT_MS: {
    group: 'HTTP',
    description:
      'Time for requests in progress to finish after SIGTERM and SHUTDOWN_DELAY_MS, in milliseconds; more than INVOKE_TIMEOUT_MS. Two seconds before its end, answers that are not complete end with the problem interrupted.',
    format: integer(0, 900_000),
    default: '75000',
  },
  SHUTDOWN_GRACE_MS: {
    group: 'HTTP',
    description:
      'Time that idle connections stay open after SIGTERM and SHUTDOWN_DELAY_MS, in milliseconds. An answer during this time tells the client that the connection ends.',
    format: integer(0, 600_000),
    default: '2000',
  },
  ADMIN_API_KEY: {
    group: 'Security',
    description: 'An API key with every scope: 32 or more visible ASCII characters.',
    format: text('32 to 512 visible ASCII characters without spaces', /^[!-~]{32,512}$/),
    otherwise: 'the first start creates a key and prints it once',
    secret: true,
  },
  SECRETS_KEY: {
    group: 'Security',
    description:
      'Key that encrypts the secrets and headers of integrations in the database, the content of invocations, and the cookies of sessions: 32 bytes in base64 or hex, the same for all processes. Former keys may follow after commas; they are used only to decrypt.',
    format: secretKeys,
    otherwise: 'a key in DATA_DIR, which the first start creates',
    secret: true,
  },
  SECRETS_KEY_CHECK: {
    group: 'Security',
    description:
      'on stops the start if SECRETS_KEY decrypts none of the stored secrets; off starts anyway, for the case that the key is lost.',
    format: choice(onOff),
    default: 'on',
  },
  SIGN_IN: {
    group: 'Sign-in',
    description:
      'How people sign in to the dashboard: all (with an account, and with an API key) or oidc (the page does not ask for a key). The API and printed links work in any case.',
    format: choice({ all: 'all', oidc: 'oidc' } as const),
    default: 'all',
  },
  OIDC_ISSUER: {
    group: 'Sign-in',
    description:
      'Issuer of an identity provider (OpenID Connect), exactly as it calls itself. Register <PUBLIC_URL>/oidc/callback there as the redirect address. Needs PUBLIC_URL, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, and OIDC_ROLES or OIDC_DEFAULT_ROLE.',
    format: secureAddress,
    otherwise: 'people sign in with API keys',
    example: 'https://login.example.com/realms/company',
  },
  OIDC_CLIENT_ID: {
    group: 'Sign-in',
    description: 'Id of this service at the issuer.',
    format: visibleText,
    example: 'prompt-gateway',
  },
  OIDC_CLIENT_SECRET: {
    group: 'Sign-in',
    description: 'Secret of this service at the issuer, which it sends as client_secret_basic.',
    format: visibleText,
    example: 'EXAMPLE-not-a-real-secret',
    secret: true,
  },
  OIDC_SCOPES: {
    group: 'Sign-in',
    description: 'Scopes to ask the issuer for, separated by spaces; openid is one of them.',
    format: text('scopes separated by spaces, one of them openid', /^(?=(.* )?openid( |$))[!#-[\]-~]+( [!#-[\]-~]+)*$/),
    default: 'openid profile email',
  },
  OIDC_ROLES_CLAIM: {
    group: 'Sign-in',
    description:
      'Claim with the groups of a person: its exact name, or a JSON pointer such as /realm_access/roles. If the ID token does not have it, the userinfo endpoint is asked.',
    format: text('the name of a claim, or a JSON pointer that begins with /', /^[!-~]{1,500}$/),
    default: 'groups',
  },
  OIDC_ROLES: {
    group: 'Sign-in',
    description:
      'The role of each group, as a JSON object: viewer, editor, releaser, operator or administrator. A person has the roles of all its groups.',
    format: rolesByGroup,
    default: '{}',
    example: '{"prompt-admins":"administrator","devs":"editor"}',
  },
  OIDC_DEFAULT_ROLE: {
    group: 'Sign-in',
    description: 'Role of people who are in none of the groups of OIDC_ROLES.',
    format: role,
    otherwise: 'they cannot sign in',
  },
  OIDC_NAME: {
    group: 'Sign-in',
    description: 'What the sign-in page calls the identity provider.',
    format: text('1 to 100 characters', /^[^\p{Cc}]{1,100}$/u),
    default: 'your organisation',
  },
  WEBHOOK_ALLOWED_NETWORKS: {
    group: 'Security',
    description: 'Private networks that events may be sent to, separated by commas, or none.',
    format: networks,
    otherwise: 'the loopback if the database is embedded and HOST is on the loopback, else none',
    example: '10.20.0.0/16,fd00:20::/32',
  },
  DNS_SERVERS: {
    group: 'Security',
    description:
      'Name servers that resolve the names of receivers and providers: IP addresses, with or without a port.',
    format: nameServers,
    otherwise: 'the name servers of the system',
    example: '10.0.0.2,[fd00::2]:5353',
  },
  WEBHOOK_PROXY_URL: {
    group: 'Proxies',
    description:
      'Proxy (HTTP CONNECT) through which events are sent, for example for a fixed outgoing address. It gets the address that was looked up and checked here, never a name.',
    format: proxyAddress,
    otherwise: 'events are sent directly',
    example: 'http://user:password@proxy.internal:3128',
    secret: true,
  },
  WEBHOOK_PROXY_RESOLVES: {
    group: 'Proxies',
    description:
      'on: the proxy gets the names of receivers, and has to refuse addresses that are not public, because they are not checked here. For proxies that allow targets by name.',
    format: choice(onOff),
    default: 'off',
  },
  PROVIDER_PROXY_URL: {
    group: 'Proxies',
    description: 'Proxy (HTTP CONNECT) through which providers are called, except those on this machine (localhost).',
    format: proxyAddress,
    otherwise: 'providers are called directly',
    example: 'http://user:password@proxy.internal:3128',
    secret: true,
  },
  PROVIDER_PROXY_RESOLVES: {
    group: 'Proxies',
    description: 'on: the proxy gets the names of providers. For proxies that allow targets by name.',
    format: choice(onOff),
    default: 'off',
  },
  NO_PROXY: {
    group: 'Proxies',
    description:
      'Receivers and providers that are connected to directly, besides those on this machine (localhost and names below it, 127.0.0.0/8, ::1), separated by commas: host names with all names below them, .suffix for the names below only, addresses and networks for URLs with an address, each with an optional port; * for all.',
    format: noProxy,
    otherwise: 'none',
    example: '.internal,10.0.0.0/8',
  },
  DATA_DIR: {
    group: 'Storage',
    description:
      'Folder of the embedded database (if MONGODB_URI is not set) and of stored files (if S3_BUCKET is not set).',
    format: text('the path of a folder', /^[^\0]{1,4096}$/),
    default: './data',
  },
  CACHE_DIR: {
    group: 'Storage',
    description: 'Folder for downloaded database engines. You can delete it at any time.',
    format: text('the path of a folder', /^[^\0]{1,4096}$/),
    otherwise: 'prompt-gateway in XDG_CACHE_HOME, else in ~/.cache',
  },
  MONGODB_URI: {
    group: 'Storage',
    description: 'Connection string of the database.',
    format: text('a MongoDB connection string (mongodb://… or mongodb+srv://…)', /^mongodb(\+srv)?:\/\/[^\s/?]+\S*$/),
    otherwise: 'an embedded database in DATA_DIR',
    example: 'mongodb://db1.example.com,db2.example.com/?replicaSet=rs0',
    secret: true,
  },
  MONGODB_DATABASE: {
    group: 'Storage',
    description: 'Name of the database.',
    format: text(
      '1 to 63 letters, digits, _ or -, and not admin, config or local',
      /^(?!(admin|config|local)$)[A-Za-z0-9_-]{1,63}$/,
    ),
    default: 'prompt_gateway',
  },
  DATABASE_CHECK: {
    group: 'Storage',
    description:
      'on checks at start that the database works as the service requires, and stops the start if it does not; off skips the check.',
    format: choice(onOff),
    default: 'on',
  },
  S3_BUCKET: {
    group: 'Storage',
    description:
      'Bucket for the results of test runs. The AWS SDK finds the credentials (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, profiles, roles).',
    format: text('the name of a bucket', /^[A-Za-z0-9][A-Za-z0-9._-]{2,62}$/),
    otherwise: 'files in DATA_DIR',
  },
  S3_ENDPOINT: {
    group: 'Storage',
    description: 'Address of an S3-compatible service.',
    format: httpAddress,
    otherwise: 'Amazon S3 in S3_REGION',
    example: 'https://s3.example.com',
  },
  S3_REGION: {
    group: 'Storage',
    description: 'Region of the bucket.',
    format: text('the name of a region such as eu-central-1', /^[A-Za-z0-9-]{1,64}$/),
    otherwise: 'AWS_REGION, else us-east-1',
  },
  S3_FORCE_PATH_STYLE: {
    group: 'Storage',
    description: 'Where requests name the bucket: in the path (true) or in the host name (false).',
    format: choice({ true: true, false: false }),
    otherwise: 'true if S3_ENDPOINT is set',
  },
  S3_CHECKSUMS: {
    group: 'Storage',
    description: 'When requests have CRC checksums. Not every S3-compatible service supports them.',
    format: choice({ 'when-required': 'when-required', 'when-supported': 'when-supported' } as const),
    default: 'when-required',
  },
  S3_PREFIX: {
    group: 'Storage',
    description: 'Prefix of the name of every object, such as gateway/.',
    format: text(
      'names of letters, digits, . _ or -, separated by / and not starting with it',
      /^(?!(.*\/)?\.{1,2}(\/|$))[A-Za-z0-9._-]{1,100}(\/[A-Za-z0-9._-]{1,100}){0,9}\/?$/,
    ),
    otherwise: 'nothing',
  },
  INVOKE_TIMEOUT_MS: {
    group: 'Invoke',
    description: 'Deadline of an invocation with its retries, in milliseconds. X-Timeout-Ms can lower it.',
    format: integer(1, 600_000),
    default: '60000',
  },
  INVOKE_CACHE_MAX_AGE: {
    group: 'Invoke',
    description:
      'Largest age of a cached answer for requests without Cache-Control, in seconds. With 0, only requests that ask for a cached answer get one.',
    format: integer(0, 31_536_000),
    default: '0',
  },
  INVOKE_CACHE_MAX_MB: {
    group: 'Invoke',
    description: 'Memory for cached answers, in MiB. 0 turns the cache off.',
    format: integer(0, 65_536),
    default: '64',
  },
  INVOCATION_CONTENT: {
    group: 'Invoke',
    description:
      'Of which invocations the texts of request and answer are kept, encrypted: off, errors (those that fail) or all. A prompt can be stricter.',
    format: choice({ off: 'off', errors: 'errors', all: 'all' } as const),
    default: 'off',
  },
  PROVIDER_CONCURRENCY: {
    group: 'Invoke',
    description: 'Calls at the same time, per provider and process. Further calls wait.',
    format: integer(1, 10_000),
    default: String(defaultProviderConcurrency),
  },
  REQUEST_MEMORY_MB: {
    group: 'Limits',
    description:
      'Estimated memory for large bodies, invocations, test runs and large answers in progress, in MiB. One person or API key, with the keys that it created, may use half of it. Above the limit, large requests wait up to 20 seconds and others are refused.',
    format: integer(16, 65_536),
    default: '192',
  },
  KEPT_ANSWERS_MB: {
    group: 'Limits',
    description:
      'Space that one process may use per day for answers of Idempotency-Keys and results of test runs, in MiB. One person or API key, with the keys that it created, may use half of it. Requests above the limit are refused.',
    format: integer(16, 1_048_576),
    default: '2048',
  },
  TEST_RUN_RETENTION_DAYS: {
    group: 'Limits',
    description: 'Time that test runs and their results are kept after their end, in days.',
    format: integer(2, 3_650),
    default: '30',
  },
  INVOCATION_RETENTION_DAYS: {
    group: 'Limits',
    description: 'Time that records of the invocation log are kept, in days.',
    format: integer(1, 3_650),
    default: '30',
  },
  INVOCATION_CONTENT_RETENTION_DAYS: {
    group: 'Limits',
    description: 'Time that the content of invocations is kept, in days; at most INVOCATION_RETENTION_DAYS.',
    format: integer(1, 3_650),
    default: '7',
  },
  WEBHOOKS: {
    group: 'Operation',
    description:
      'off: this process sends no webhooks, for example to start a copy of the data. Events are in the feed, and their deliveries wait at most 30 days for another process on the same database.',
    format: choice(onOff),
    default: 'on',
  },
  READ_ONLY: {
    group: 'Operation',
    description:
      'on: this process changes nothing, calls no provider and sends no webhooks, for example to check a backup. Operations that change something answer 403. It needs data that this release has migrated.',
    format: choice(onOff),
    default: 'off',
  },
  LOG_LEVEL: {
    group: 'Operation',
    description: 'Least severe level that is logged: fatal, error, warn, info, debug, trace or silent.',
    format: choice({
      fatal: 'fatal',
      error: 'error',
      warn: 'warn',
      info: 'info',
      debug: 'debug',
      trace: 'trace',
      silent: 'silent',
    } as const),
    default: 'info',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    group: 'Operation',
    description:
      "Address of an OpenTelemetry collector, which gets traces and metrics by OTLP over HTTP. The other variables of OpenTelemetry's SDK hold too, such as OTEL_SERVICE_NAME and OTEL_EXPORTER_OTLP_HEADERS.",
    format: httpAddress,
    otherwise: 'nothing is sent',
    example: 'http://collector.internal:4318',
  },
  OTEL_TRACES_EXPORTER: {
    group: 'Operation',
    description: 'Whether traces are sent: otlp or none.',
    format: choice(otlpOrNone),
    default: 'otlp',
  },
  OTEL_METRICS_EXPORTER: {
    group: 'Operation',
    description: 'Whether metrics are sent: otlp or none.',
    format: choice(otlpOrNone),
    default: 'otlp',
  },
  CONTRACT_REFEREE: {
    group: 'Operation',
    description:
      'For staging: with on, a second, independent implementation checks a copy of all traffic against the contract, and the log reports disagreements.',
    format: choice(onOff),
    default: 'off',
  },
  [compatibleProvidersVariable.name]: {
    group: 'Further providers',
    description: compatibleProvidersVariable.description,
    format: compatibleProviders,
    default: '[]',
    example: '[{"id":"ollama","base_url":"http://127.0.0.1:11434/v1","models":["llama3.3"]}]',
    secret: true,
  },
  PROVIDER_MODELS: {
    group: 'Further providers',
    description: 'Models to list in addition to those that the service knows: a JSON object of arrays by provider id.',
    format: modelsByProvider,
    default: '{}',
    example: '{"openai":["gpt-next"]}',
    // Not a secret, but easily confused with the value of its neighbour.
    secret: true,
  },
} as const satisfies Readonly<Record<string, Setting>>;

type Settings = typeof settings;

/** The values of the settings, by name; undefined for a setting without a value and default. */
export type SettingValues = {
  readonly [Name in keyof Settings]:
    | z.output<Settings[Name]['format']>
    | (Settings[Name] extends { readonly default: string } ? never : undefined);
};

/** The table of the service's own settings, and after it that of its built-in providers. */
export const allSettings: Readonly<Record<string, Setting>> = {
  ...settings,
  ...Object.fromEntries(
    providerVariables.map(({ name, description, secret = false, format }): [string, Setting] => [
      name,
      {
        group: 'Built-in providers',
        description,
        secret,
        format: format === 'url' ? httpAddress : visibleText,
      },
    ]),
  ),
};
