import { Resolver } from 'node:dns';
import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ConfigError, loadConfig, type Config } from '../../src/config/config.ts';
import { allSettings } from '../../src/config/settings.ts';

const environment = (more: Record<string, string> = {}): Record<string, string> => ({ HOME: '/home/someone', ...more });
const load = (more: Record<string, string>): Config => loadConfig(environment(more));

function mistakesOf(more: Record<string, string>): readonly string[] {
  try {
    load(more);
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
  return [];
}

const ollama = { id: 'ollama', base_url: 'http://127.0.0.1:11434/v1/', models: ['llama3.3', 'qwen3'] };
const compatible = (...providers: unknown[]): Record<string, string> => ({
  OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify(providers),
});

describe('loadConfig without settings', () => {
  it('has a default for everything', () => {
    expect(loadConfig(environment())).toEqual({
      http: {
        host: '127.0.0.1',
        port: 8080,
        basePath: '',
        rateLimit: { requests: 6000, windowSeconds: 60 },
        corsOrigins: [],
        shutdownDelayMs: 0,
        shutdownTimeoutMs: 75_000,
        shutdownGraceMs: 2_000,
        refusedKeysLimit: { refusals: 100, windowSeconds: 60 },
        trustedProxies: [],
        contractReferee: false,
      },
      security: {
        adminApiKey: undefined,
        secretKeys: [],
        secretKeysCheck: true,
        allowedNetworks: ['127.0.0.0/8', '::1/128'],
      },
      publicUrl: undefined,
      signIn: { byKey: true, oidc: undefined },
      database: {
        uri: undefined,
        check: true,
        name: 'prompt_gateway',
        dataDir: resolve('data'),
        cacheDir: '/home/someone/.cache/prompt-gateway',
      },
      storage: { kind: 'files', directory: resolve('data/files') },
      invoke: { timeoutMs: 60_000, cacheMaxAge: 0, cacheMaxBytes: 64 * 1024 * 1024, content: 'off' },
      providers: { builtIn: {}, compatible: [], models: {}, concurrency: 128 },
      readOnly: false,
      webhooks: { isOn: true },
      limits: {
        requestMemory: 192 * 1024 ** 2,
        keptAnswers: 2 * 1024 ** 3,
        testRunRetentionMs: 30 * 24 * 3_600_000,
        invocationRetentionMs: 30 * 24 * 3_600_000,
        invocationContentRetentionMs: 7 * 24 * 3_600_000,
      },
      log: { level: 'info' },
      telemetry: { endpoint: undefined, sendsTraces: true, sendsMetrics: true },
      warnings: [],
    });
  });

  it('treats empty and blank values as not set', () => {
    const blank = Object.fromEntries(
      Object.keys(allSettings).map((name, index) => [name, index % 2 === 0 ? '' : ' \n']),
    );
    expect(load(blank)).toEqual(loadConfig(environment()));
  });

  it('is frozen, including nested objects', () => {
    const config = load({
      CORS_ORIGINS: 'https://a.example',
      ...compatible(ollama),
      PROVIDER_MODELS: '{"openai":["x"]}',
    });
    const unfrozen: unknown[] = [];
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      if (!Object.isFrozen(value)) unfrozen.push(value);
      Object.values(value).forEach(visit);
    };
    visit(config);
    expect(unfrozen).toEqual([]);
  });
});

describe('loadConfig', () => {
  it('reads the HTTP settings', () => {
    const { http } = load({
      HOST: '::',
      PORT: ' 0\n',
      BASE_PATH: '/a/gateway-1.0',
      RATE_LIMIT: '10/1s',
      CORS_ORIGINS: 'https://app.example.com, http://localhost:3000,https://app.example.com',
      SHUTDOWN_DELAY_MS: '5000',
      SHUTDOWN_TIMEOUT_MS: '0',
      SHUTDOWN_GRACE_MS: '1',
      REFUSED_KEYS_LIMIT: 'off',
      TRUSTED_PROXIES: '10.0.0.0/8',
      CONTRACT_REFEREE: 'on',
    });
    expect(http).toEqual({
      host: '::',
      port: 0,
      basePath: '/a/gateway-1.0',
      rateLimit: { requests: 10, windowSeconds: 1 },
      corsOrigins: ['https://app.example.com', 'http://localhost:3000'],
      shutdownDelayMs: 5_000,
      shutdownTimeoutMs: 0,
      shutdownGraceMs: 1,
      refusedKeysLimit: undefined,
      trustedProxies: ['10.0.0.0/8'],
      contractReferee: true,
    });
    expect(load({ RATE_LIMIT: 'off' }).http.rateLimit).toBeUndefined();
  });

  it('reads where data is stored', () => {
    const { database, storage } = load({
      DATA_DIR: '/var/lib/gateway',
      CACHE_DIR: 'cache',
      MONGODB_URI: 'mongodb+srv://user:pass@db.example.com/?appName=x',
      MONGODB_DATABASE: 'other-name',
    });
    expect(database).toEqual({
      uri: 'mongodb+srv://user:pass@db.example.com/?appName=x',
      name: 'other-name',
      check: true,
      dataDir: '/var/lib/gateway',
      cacheDir: resolve('cache'),
    });
    expect(storage).toEqual({ kind: 'files', directory: '/var/lib/gateway/files' });
  });

  it('allows receivers on the loopback only if HOST is on the loopback and the database is embedded', () => {
    const allowed = (more: Record<string, string>): readonly string[] => load(more).security.allowedNetworks;
    expect(allowed({ HOST: 'localhost' })).toEqual(['127.0.0.0/8', '::1/128']);
    expect(allowed({ HOST: '0.0.0.0' })).toEqual([]);
    expect(allowed({ MONGODB_URI: 'mongodb://db.example.com' })).toEqual([]);
    expect(allowed({ WEBHOOK_ALLOWED_NETWORKS: 'none' })).toEqual([]);
    expect(
      allowed({ HOST: '::', WEBHOOK_ALLOWED_NETWORKS: '10.20.0.0/16, fd00::/8,10.20.0.0/16,192.168.1.7' }),
    ).toEqual(['10.20.0.0/16', 'fd00::/8', '192.168.1.7']);
  });

  it('reads the keys for secrets, the current key first', () => {
    const [hex, base64] = ['ab'.repeat(32), Buffer.alloc(32, 7).toString('base64')];
    expect(load({ SECRETS_KEY: `${hex}, ${base64}` }).security.secretKeys).toEqual([hex, base64]);
  });

  it('reads name servers in the notation of Node', () => {
    const servers = ['10.0.0.2', '10.0.0.3:5353', 'fd00::2', '[fd00::2]:5353'];
    const { dnsServers } = load({ DNS_SERVERS: servers.join(', ') }).security;
    expect(dnsServers).toEqual(servers);
    new Resolver().setServers(dnsServers ?? []);
    expect(load({}).security.dnsServers).toBeUndefined();
  });

  it('reads proxies, their credentials apart from their addresses', () => {
    const { webhooks, providerProxy } = load({
      WEBHOOK_PROXY_URL: 'http://us%20er:p%3Ass@proxy.internal:3128/',
      WEBHOOK_PROXY_RESOLVES: 'on',
      PROVIDER_PROXY_URL: 'https://proxy.example.com',
      NO_PROXY: 'localhost,.internal',
    });
    expect(webhooks.proxy).toMatchObject({
      origin: 'http://proxy.internal:3128',
      authorization: `Basic ${Buffer.from('us er:p:ss').toString('base64')}`,
      resolves: true,
    });
    expect(providerProxy).toMatchObject({
      origin: 'https://proxy.example.com',
      authorization: undefined,
      resolves: false,
    });
    expect(providerProxy?.isBypassed('ollama.internal', 11434)).toBe(true);
    expect(load({ NO_PROXY: 'localhost' })).toMatchObject({ providerProxy: undefined, webhooks: { proxy: undefined } });
  });

  it('warns of no_proxy only if there is a proxy', () => {
    const WEBHOOK_PROXY_URL = 'http://proxy.internal:3128';
    expect(load({ no_proxy: 'localhost' }).warnings).toEqual(load({}).warnings);
    expect(load({ no_proxy: 'localhost', WEBHOOK_PROXY_URL }).warnings).toContain(
      'no_proxy is set but is not a setting. Did you mean NO_PROXY?',
    );
  });

  it('refuses proxies that it cannot use, without their passwords', () => {
    for (const address of [
      'socks5://u:EXAMPLE@proxy:1080',
      'http://u:EXAMPLE@proxy/path',
      'http://u:%EXAMPLE@proxy',
      'proxy:3128',
    ]) {
      const [mistake = ''] = mistakesOf({ WEBHOOK_PROXY_URL: address });
      expect(mistake).toContain('WEBHOOK_PROXY_URL: expected an http or https address of a proxy');
      expect(mistake).not.toContain('EXAMPLE');
    }
    const alone = mistakesOf({ WEBHOOK_PROXY_RESOLVES: 'on', PROVIDER_PROXY_RESOLVES: 'off' });
    expect(alone).toEqual(['WEBHOOK_PROXY_RESOLVES: has no effect without WEBHOOK_PROXY_URL, which is not set.']);
  });

  it.each([
    ['SECRETS_KEY', 'a password'],
    ['SECRETS_KEY', 'ab'.repeat(31)],
    ['WEBHOOK_ALLOWED_NETWORKS', '10.0.0.0/33'],
    ['WEBHOOK_ALLOWED_NETWORKS', '0x7f.1'],
    ['WEBHOOK_ALLOWED_NETWORKS', 'receiver.example.com'],
    ['DNS_SERVERS', 'dns.example.com'],
    ['DNS_SERVERS', '10.0.0.2:0'],
    ['DNS_SERVERS', '10.0.0.2:65536'],
    ['DNS_SERVERS', 'fd00::2:zz'],
  ])('refuses %s=%s', (name, value) => {
    const [mistake = ''] = mistakesOf({ [name]: value });
    expect(mistake).toContain(`${name}: expected `);
    if (name === 'SECRETS_KEY') expect(mistake).not.toContain(value);
  });

  it('finds the cache folder according to the XDG base directory specification', () => {
    expect(load({ XDG_CACHE_HOME: '/caches' }).database.cacheDir).toBe('/caches/prompt-gateway');
    expect(load({ XDG_CACHE_HOME: 'relative' }).database.cacheDir).toBe('/home/someone/.cache/prompt-gateway');
    expect(loadConfig({}).database.cacheDir).toMatch(/^\/.*\/\.cache\/prompt-gateway$/);
  });

  it('reads a bucket of Amazon S3', () => {
    expect(load({ S3_BUCKET: 'results', AWS_REGION: 'eu-central-1' }).storage).toEqual({
      kind: 's3',
      bucket: 'results',
      endpoint: undefined,
      region: 'eu-central-1',
      forcePathStyle: false,
      checksums: 'when-required',
      prefix: '',
    });
    expect(load({ S3_BUCKET: 'results' }).storage).toMatchObject({ region: 'us-east-1' });
  });

  it('reads a bucket of an S3-compatible service', () => {
    const bucket = { S3_BUCKET: 'results', S3_ENDPOINT: 'http://s3.internal:9000/' };
    expect(load({ ...bucket, S3_REGION: 'here', AWS_REGION: 'there', S3_PREFIX: 'a/b' }).storage).toEqual({
      kind: 's3',
      bucket: 'results',
      endpoint: 'http://s3.internal:9000',
      region: 'here',
      forcePathStyle: true,
      checksums: 'when-required',
      prefix: 'a/b/',
    });
    expect(
      load({ ...bucket, S3_FORCE_PATH_STYLE: 'false', S3_CHECKSUMS: 'when-supported', S3_PREFIX: 'a/' }).storage,
    ).toMatchObject({ forcePathStyle: false, checksums: 'when-supported', prefix: 'a/' });
  });

  it('reads the settings of invocations, log and administrator key', () => {
    const config = load({
      INVOKE_TIMEOUT_MS: '600000',
      INVOKE_CACHE_MAX_AGE: '30',
      INVOKE_CACHE_MAX_MB: '1',
      PROVIDER_CONCURRENCY: '7',
      LOG_LEVEL: 'silent',
      ADMIN_API_KEY: 'k'.repeat(32),
    });
    expect(config.invoke).toEqual({ timeoutMs: 600_000, cacheMaxAge: 30, cacheMaxBytes: 1_048_576, content: 'off' });
    expect(config.providers.concurrency).toBe(7);
    expect(config.log.level).toBe('silent');
    expect(config.security.adminApiKey).toBe('k'.repeat(32));
  });

  it('collects the variables of built-in providers', () => {
    const { builtIn } = load({
      OPENAI_API_KEY: 'sk-1\n',
      OPENAI_BASE_URL: 'http://127.0.0.1:1/v1/',
      AZURE_RESOURCE_NAME: 'mine',
      AWS_BEDROCK_REGION: 'eu-west-1',
    }).providers;
    expect(builtIn).toEqual({
      openai: { apiKey: 'sk-1', baseUrl: 'http://127.0.0.1:1/v1' },
      azure: { resourceName: 'mine' },
      'amazon-bedrock': { region: 'eu-west-1' },
    });
  });

  it('reads OpenAI-compatible servers and additional models', () => {
    const full = {
      ...ollama,
      id: 'vllm',
      name: 'Our vLLM',
      api_key: 'secret',
      headers: { 'X-Team': 'search' },
      default_model: 'qwen3',
      structured_outputs: true,
      image_urls: false,
    };
    const { providers } = load({ ...compatible(ollama, full), PROVIDER_MODELS: '{"openai":["a"],"ollama":["b"]}' });
    expect(providers.compatible).toEqual([
      { id: 'ollama', name: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1', models: ['llama3.3', 'qwen3'] },
      {
        id: 'vllm',
        name: 'Our vLLM',
        baseUrl: 'http://127.0.0.1:11434/v1',
        apiKey: 'secret',
        headers: { 'X-Team': 'search' },
        models: ['llama3.3', 'qwen3'],
        defaultModel: 'qwen3',
        structuredOutputs: true,
        imageUrls: false,
      },
    ]);
    expect(providers.models).toEqual({ openai: ['a'], ollama: ['b'] });
  });
});

describe('mistakes', () => {
  it.each([
    ['HOST', 'http://x'],
    ['HOST', '[::1]'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '0x10'],
    ['PORT', '1e3'],
    ['PORT', '080'],
    ['BASE_PATH', '/'],
    ['BASE_PATH', 'gateway'],
    ['BASE_PATH', '/gateway/'],
    ['BASE_PATH', '//gateway'],
    ['BASE_PATH', '/a/../b'],
    ['BASE_PATH', '/a b'],
    ['BASE_PATH', '/a"b'],
    ['BASE_PATH', 'https://example.com/gateway'],
    ['RATE_LIMIT', '0/60s'],
    ['RATE_LIMIT', '100/60'],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'https://app.example.com/'],
    ['CORS_ORIGINS', 'https://a.example,,https://b.example'],
    ['CORS_ORIGINS', 'null'],
    ['SHUTDOWN_DELAY_MS', '600001'],
    ['SHUTDOWN_TIMEOUT_MS', '900001'],
    ['MONGODB_DATABASE', 'admin'],
    ['MONGODB_DATABASE', 'a.b'],
    ['S3_BUCKET', 'a/b'],
    ['INVOKE_TIMEOUT_MS', '0'],
    ['INVOKE_TIMEOUT_MS', '600001'],
    ['INVOKE_CACHE_MAX_AGE', '1.5'],
    ['PROVIDER_CONCURRENCY', '0'],
    ['LOG_LEVEL', 'INFO'],
    ['LOG_LEVEL', 'constructor'],
    ['CONTRACT_REFEREE', 'true'],
    ['OPENAI_BASE_URL', 'localhost:1234'],
  ])('%s=%s names the variable, what is expected and what was found', (name, value) => {
    expect(mistakesOf({ [name]: value })).toEqual([expect.stringMatching(`^${name}: expected .+, found ".+"\\.$`)]);
    expect(mistakesOf({ [name]: value })[0]).toContain(`found ${JSON.stringify(value)}`);
  });

  it.each([
    ['S3_ENDPOINT', 'ftp://files'],
    ['S3_PREFIX', '/absolute'],
    ['S3_PREFIX', 'a/../b'],
    ['S3_PREFIX', '..'],
    ['S3_FORCE_PATH_STYLE', 'yes'],
    ['S3_CHECKSUMS', 'never'],
    ['S3_REGION', 'eu central'],
  ])('%s=%s beside a bucket', (name, value) => {
    expect(mistakesOf({ S3_BUCKET: 'results', [name]: value })).toEqual([expect.stringContaining(`${name}: expected`)]);
  });

  it('are all reported together, one on each line', () => {
    const all = {
      PORT: 'x',
      LOG_LEVEL: 'loud',
      MONGODB_URI: 'postgres://db',
      S3_ENDPOINT: 'http://s3',
      ADMIN_API_KEY: 'short',
      COHERE_API_KEY: 'with blanks',
      ...compatible({ id: 'openai', base_url: 'nowhere', models: ['m'], extra: 1 }, 7),
      PROVIDER_MODELS: '{"openai":"gpt"}',
    };
    const mistakes = mistakesOf(all);
    expect(mistakes.map((mistake) => mistake.split(':')[0])).toEqual([
      'PORT',
      'ADMIN_API_KEY',
      'MONGODB_URI',
      'LOG_LEVEL',
      'OPENAI_COMPATIBLE_PROVIDERS[0].base_url',
      'OPENAI_COMPATIBLE_PROVIDERS[0]',
      'OPENAI_COMPATIBLE_PROVIDERS[1]',
      'PROVIDER_MODELS.openai',
      'COHERE_API_KEY',
      'S3_ENDPOINT',
    ]);
    expect(() => load(all)).toThrow(
      `The configuration has mistakes:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`,
    );
  });

  it('include settings of an object store without a bucket', () => {
    expect(mistakesOf({ S3_ENDPOINT: 'http://s3', S3_PREFIX: 'x' })).toEqual([
      'S3_ENDPOINT: has no effect without S3_BUCKET, which is not set.',
      'S3_PREFIX: has no effect without S3_BUCKET, which is not set.',
    ]);
    expect(mistakesOf({ S3_ENDPOINT: 'http://s3', S3_BUCKET: '!' })).toEqual([expect.stringMatching(/^S3_BUCKET: /)]);
  });

  it.each([
    ['a repeated id', [ollama, ollama], 'Two providers have the id "ollama"'],
    ['the id of a built-in provider', [{ ...ollama, id: 'echo' }], 'Two providers have the id "echo"'],
    ['an id with blanks', [{ ...ollama, id: 'my server' }], 'id "my server"'],
    ['no models', [{ ...ollama, models: [] }], 'needs a model'],
    ['a model with a line break', [{ ...ollama, models: ['a\nb'] }], 'model name "a\\nb"'],
    ['a default that is not in the list of models', [{ ...ollama, default_model: 'other' }], 'default model'],
    ['a header with a line break', [{ ...ollama, headers: { a: 'x\r\ny' } }], '[0].headers.a: expected'],
    ['a header name with a colon', [{ ...ollama, headers: { 'a:b': 'x' } }], '[0].headers.a:b'],
    ['a base URL with a password', [{ ...ollama, base_url: 'http://u:hunter2@x' }], '[0].base_url: expected'],
    ['a missing base URL', [{ id: 'x', models: ['m'] }], '[0].base_url'],
  ])('include providers with %s', (_case, providers, expected) => {
    expect(mistakesOf(compatible(...providers))).toEqual([expect.stringContaining(expected)]);
    expect(mistakesOf(compatible(...providers))[0]).toMatch(/^OPENAI_COMPATIBLE_PROVIDERS/);
  });

  const oidc = {
    PUBLIC_URL: 'https://gateway.example.com',
    OIDC_ISSUER: 'https://login.example.com/',
    OIDC_CLIENT_ID: 'gateway',
    OIDC_CLIENT_SECRET: 'a-secret',
    OIDC_ROLES: '{"admins":"administrator"}',
  };

  it.each<[string, Record<string, string>, string]>([
    ['an issuer without the address of the service', { ...oidc, PUBLIC_URL: '' }, 'PUBLIC_URL: OIDC_ISSUER needs'],
    ['an issuer without a client', { ...oidc, OIDC_CLIENT_ID: '' }, 'OIDC_CLIENT_ID: OIDC_ISSUER needs'],
    ['an issuer without a secret', { ...oidc, OIDC_CLIENT_SECRET: '' }, 'OIDC_CLIENT_SECRET: OIDC_ISSUER needs'],
    ['an issuer without roles', { ...oidc, OIDC_ROLES: '{ }' }, 'OIDC_ROLES: without it and OIDC_DEFAULT_ROLE'],
    ['an unknown role', { ...oidc, OIDC_ROLES: '{"admins":"root"}' }, 'OIDC_ROLES.admins:'],
    ['a client without an issuer', { OIDC_CLIENT_ID: 'gateway' }, 'OIDC_CLIENT_ID: has no effect without OIDC_ISSUER'],
    ['sign-in by an issuer alone without one', { SIGN_IN: 'oidc' }, 'SIGN_IN: oidc needs OIDC_ISSUER'],
    ['an address with another path than BASE_PATH', { ...oidc, BASE_PATH: '/gateway' }, 'PUBLIC_URL: its path must be'],
    ['an issuer without TLS', { ...oidc, OIDC_ISSUER: 'http://login.example.com' }, 'OIDC_ISSUER: expected an https'],
    ['an address without TLS', { ...oidc, PUBLIC_URL: 'http://gateway.example.com' }, 'PUBLIC_URL: expected an https'],
    ['scopes without openid', { ...oidc, OIDC_SCOPES: 'profile openids' }, 'OIDC_SCOPES: expected'],
  ])('include %s', (_name, environment, mistake) => {
    expect(mistakesOf(environment)).toEqual([expect.stringMatching(new RegExp(`^${mistake}`))]);
  });

  it('are not in a whole identity provider', () => {
    const { signIn, publicUrl } = loadConfig({ ...oidc, PUBLIC_URL: 'http://127.0.0.1:8080/g/', BASE_PATH: '/g' });
    expect(publicUrl).toBe('http://127.0.0.1:8080/g');
    expect(signIn).toEqual({
      byKey: true,
      oidc: {
        ...{ issuer: 'https://login.example.com/', clientId: 'gateway', clientSecret: 'a-secret' },
        ...{ scopes: 'openid profile email', name: 'your organisation', rolesClaim: 'groups', defaultRole: undefined },
        roles: { admins: 'administrator' },
      },
    });
  });

  it('include models for providers that do not exist', () => {
    expect(mistakesOf({ PROVIDER_MODELS: '{"opnai":["m"]}' })).toEqual([
      expect.stringMatching(/^PROVIDER_MODELS: .*"opnai"/),
    ]);
  });

  it('never contain a secret, whichever variable it is in', () => {
    const secrets = Object.entries(allSettings).filter(([, { secret }]) => secret === true);
    expect(secrets.length).toBeGreaterThan(15);
    for (const [name] of secrets) {
      const mistakes = mistakesOf({ [name]: 'hunter2 ü' });
      expect(mistakes).toHaveLength(1);
      expect(mistakes[0]).not.toContain('hunter2');
    }
    for (const more of [
      { S3_BUCKET: 'b12', S3_ENDPOINT: 'http://key:hunter2@s3' },
      { OPENAI_BASE_URL: 'http://hunter2@proxy' },
      { OPENAI_COMPATIBLE_PROVIDERS: '[{"api_key":"hunter2",' },
      { PROVIDER_MODELS: JSON.stringify([{ ...ollama, api_key: 'hunter2' }]) },
      compatible({ ...ollama, api_key: 'hunter2 ü' }),
    ]) {
      const mistakes = mistakesOf(more);
      expect(mistakes.length).toBeGreaterThan(0);
      expect(mistakes.join()).not.toContain('hunter2');
    }
  });

  it('are the only error that loading throws', () => {
    const names = fc.constantFrom(...Object.keys(allSettings));
    const values = fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.webUrl(), fc.integer().map(String));
    fc.assert(
      fc.property(fc.dictionary(names, values), (more) => {
        expect(Array.isArray(mistakesOf(more))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('warnings', () => {
  it('say that a stop would interrupt invocations', () => {
    expect(load({ INVOKE_TIMEOUT_MS: '70000' }).warnings).toEqual([]);
    expect(load({ INVOKE_TIMEOUT_MS: '71000' }).warnings).toEqual([
      expect.stringContaining('Set SHUTDOWN_TIMEOUT_MS to 76000 or more.'),
    ]);
    expect(load({ SHUTDOWN_TIMEOUT_MS: '30000' }).warnings).toEqual([
      expect.stringContaining('interrupts invocations'),
    ]);
  });

  it.each([
    ['MONGO_URI', 'MONGODB_URI'],
    ['OPENAI_APIKEY', 'OPENAI_API_KEY'],
    ['mongodb_uri', 'MONGODB_URI'],
    ['RATE_LIMITS', 'RATE_LIMIT'],
  ])('%s is near %s', (found, meant) => {
    expect(load({ [found]: 'hunter2' }).warnings).toEqual([
      `${found} is set but is not a setting. Did you mean ${meant}?`,
    ]);
  });

  it('of JSON in a variable name the position of the mistake', () => {
    expect(mistakesOf({ PROVIDER_MODELS: '{"echo": ["a"],}' })).toEqual([
      'PROVIDER_MODELS: expected JSON, which has a mistake at line 1, column 16.',
    ]);
  });

  it('of JSON do not quote it', () => {
    expect(mistakesOf({ PROVIDER_MODELS: 'hunter2' })).toEqual(['PROVIDER_MODELS: expected JSON.']);
  });

  it('of misspelt variables follow the mistakes, if there are any', () => {
    expect(mistakesOf({ PORT: 'x', MONGO_URI: 'hunter2' })).toEqual([
      'PORT: expected a whole number from 0 to 65535, found "x".',
      'MONGO_URI is set but is not a setting. Did you mean MONGODB_URI?',
    ]);
  });

  it('recommend a key where the database is shared', () => {
    const shared = { MONGODB_URI: 'mongodb://db.example.com' };
    expect(load(shared).warnings).toEqual([expect.stringContaining('SECRETS_KEY is not set')]);
    expect(load({ ...shared, SECRETS_KEY: 'a'.repeat(64) }).warnings).toEqual([]);
  });

  it('are not reported for names that are different, short, or similar to a variable that is set', () => {
    expect(
      load({ HOSTS: '1', POST: '1', PATH: '/bin', LANG: 'C', AWS_REGION: 'x', AWS_PROFILE: 'y' }).warnings,
    ).toEqual([]);
    expect(load({ RATE_LIMITS: '1', RATE_LIMIT: 'off' }).warnings).toEqual([]);
  });
});
