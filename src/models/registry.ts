import { LRUCache } from 'lru-cache';
import { ProblemError } from '../base/errors/problem-error.ts';
import { createTurns, type Turns } from '../base/runtime/turns.ts';
import { createFairQueue, type FairQueue } from '../base/limits/fair-queue.ts';
import { mostInputs, unsupportedEmbedding, type EmbeddingProvider } from './call/embedding.ts';
import { countTokens } from './call/count-tokens.ts';
import { answer, mostStreams, type AnswerDependencies, type RemoteProvider } from './call/answer.ts';
import type { ImplausibleUsage, RetryNotice } from './call/retries.ts';
import { echo, echoCeiling, echoEntry } from './echo.ts';
import type { CalledProvider } from './call/classify.ts';
import type { Fetch, StreamFetch } from './transport/http.ts';
import {
  isListed,
  type Provider,
  type ProviderInfo,
  type ProviderRegistry,
  type ProviderSetting,
  type QueueLoad,
} from './provider.ts';
import {
  compatibleProvidersVariable,
  findSettingsMistakes,
  providerVariables,
  type ProviderSettings,
} from './provider-settings.ts';
import type { BeginCall } from './call/call-span.ts';
import { spellingsOf } from './call/conceal.ts';
import { inputCeiling } from './call/token-ceiling.ts';
import type { CallOptions, GenerateRequest, TokenCeiling } from './language-model.ts';
import { createOutputLimitFinder } from './twin/output-limit.ts';
import { findRewritten } from './twin/rewritten.ts';
import { withImageData } from './transport/image-data.ts';
import { twinFetch } from './twin/twin.ts';
import { createUnsupportedFinder } from './twin/unsupported.ts';
import type { Random } from '../base/runtime/random.ts';
import { withArgumentObjects, withArgumentTexts } from './transport/tool-arguments.ts';
import type { StreamWatch } from './call/stream-watch.ts';
import { withVectors } from './transport/vectors.ts';
import {
  compatibleDialect,
  compatibleEmbeddings,
  createCompatible,
  loadCompatible,
  type CompatibleProviderSettings,
} from './vendors/compatible.ts';
import { vendors } from './vendors/index.ts';
import type {
  Dialect,
  EmbeddingModels,
  LanguageModels,
  Originals,
  SdkProvider,
  Vendor,
  VendorEmbeddings,
  VendorSettings,
} from './vendors/vendor.ts';

export interface ProviderRegistryOptions {
  readonly settings: ProviderSettings;
  /** Sends every call to a provider; made by `createProviderHttp`. */
  readonly fetch: Fetch;
  /** Sends every call whose answer is streamed; made by `createProviderHttp`. */
  readonly streamFetch: StreamFetch;
  readonly streamWatch: StreamWatch;
  /** Randomness for the pauses before retries. */
  readonly random: Random;
  /** Called for every failed attempt that is followed by another. */
  readonly onRetry?: (notice: RetryNotice) => void;
  /** Called once for each call to a provider, when it has ended: `ok`, `canceled`, or the type of the problem. */
  readonly onAttempt?: (provider: string, outcome: string) => void;
  /** Called once for each call to a provider whose numbers of tokens are not plausible. */
  readonly onImplausible?: (said: ImplausibleUsage) => void;
  /** Begins the span of a call to a provider. */
  readonly beginCall?: BeginCall | undefined;
}

/**
 * Creates the providers that the settings describe. Packages are imported and connections opened when they are first
 * needed.
 *
 * @throws Error naming every mistake that `findSettingsMistakes` finds.
 */
export function createProviderRegistry(options: ProviderRegistryOptions): ProviderRegistry {
  const { settings, random, onRetry, onAttempt, onImplausible, beginCall, streamWatch: watch } = options;
  const mistakes = findSettingsMistakes(settings);
  if (mistakes.length > 0) throw new Error(mistakes.join(' '));

  const secrets = spellingsOf(secretsOf(settings));
  const streamQueue = createFairQueue({ places: mostStreams, reserved: mostStreams / 8 });
  const dependencies: AnswerDependencies = {
    random,
    ...(onRetry && { onRetry }),
    ...(onAttempt && { onAttempt }),
    ...(onImplausible && { onImplausible }),
    ...(beginCall && {
      beginCall: (call) =>
        beginCall({
          ...call,
          address: addresses.get(call.provider) ?? '',
          isListed: infos.some((info) => info.id === call.provider && isListed(info, call.model)),
        }),
    }),
    watch,
    streamQueue,
  };
  const turns = createTurns();
  const entries: Entry[] = [
    ...vendors.map((vendor) => vendorEntry(vendor, settings.builtIn[vendor.id] ?? {}, { ...options, turns }, secrets)),
    { info: { ...listed(echoEntry, settings), configured: true, settings: [] }, address: '', remote: undefined },
    ...settings.compatible.map((provider) => compatibleEntry(provider, { ...options, turns }, secrets)),
  ];
  const infos = entries.map(({ info }) => info);
  const providers = new Map(entries.map((entry) => [entry.info.id, toProvider(entry, dependencies, turns)]));
  const addresses = new Map(entries.map(({ info, address }) => [info.id, address]));
  const configured = entries.flatMap(({ info, remote }) => (info.configured && remote ? [remote] : []));

  return {
    list: () => infos,
    get: (id) => providers.get(id),
    load: () => ({
      providers: configured.map(({ whole, queue }) => ({ provider: whole.id, ...loadOf(queue) })),
      streams: loadOf(streamQueue),
    }),
    async preload() {
      await Promise.allSettled(configured.map(({ whole }) => whole.models()));
    },
  };
}

/** The options, and what all providers share. */
interface EntryOptions extends ProviderRegistryOptions {
  /** For the work on answers with vectors. */
  readonly turns: Turns;
}

interface Entry {
  readonly info: ProviderInfo;
  /** Where its API is: a URL; empty for `echo`. */
  readonly address: string;
  /** Undefined for `echo`, which needs no network. */
  readonly remote: Remote | undefined;
}

/** A provider with three sets of models: for whole answers, for streams, and the twins that send nothing. */
interface Remote extends RemoteProvider {
  readonly twin: SdkProvider;
  readonly outputLimit: Provider['outputLimit'];
}

function toProvider({ info, remote }: Entry, dependencies: AnswerDependencies, turns: Turns): Provider {
  const { id, configured } = info;
  if (remote === undefined) {
    return {
      ...info,
      answer: (request, call, form) => echo(request, call, form, { ...dependencies, turns }),
      unsupported: async () => [],
      mostInputs: async () => Infinity,
      rewritten: async () => [],
      outputLimit: async ({ parameters, embedding }) => (embedding === undefined ? parameters?.max_output_tokens : 0),
      ceiling: (request) => echoCeiling(request, turns),
      countTokens: async (request) => (await echoCeiling(request, turns)).inputTokens,
    };
  }
  const { embeddings } = remote;
  const unsupported = createUnsupportedFinder(remote.twin);
  return {
    ...info,
    async *answer(request, call, form) {
      if (!configured) throw notConfigured(id);
      yield* answer(remote, request, call, form, dependencies);
    },
    ...(remote.whole.originals && {
      originalApi: remote.whole.originals.api,
      async countTokens(request: GenerateRequest, call: CallOptions) {
        if (!configured) throw notConfigured(id);
        return await countTokens(remote, request, call, dependencies);
      },
    }),
    async unsupported(request) {
      const { model, embedding, original } = request;
      // Only the provider itself checks a request that goes out as its caller wrote it.
      if (original !== undefined) return [];
      return embedding === undefined
        ? await unsupported(request)
        : unsupportedEmbedding(embeddings?.own, model, embedding);
    },
    mostInputs: (model) => mostInputs(embeddings, model),
    rewritten: async (request) => (request.original === undefined ? findRewritten(remote.twin, request) : []),
    outputLimit: remote.outputLimit,
    ceiling: remote.whole.ceilingOf,
  };
}

function vendorEntry(vendor: Vendor, own: VendorSettings, options: EntryOptions, secrets: readonly string[]): Entry {
  const { id, dialect, variables, embeddings }: Vendor = vendor;
  const hasRequired = variables.every(({ setting, required }) => !required || Boolean(own[setting]));
  const configured = vendor.isConfigured?.(own) ?? hasRequired;
  const load = (fetch: Fetch): Promise<LanguageModels> => vendor.load(own, fetch);
  return {
    info: { ...listed(vendor, options.settings), configured, settings: settingsOf(vendor, own) },
    address: own.baseUrl || (vendor.addressOf?.(own) ?? vendor.address),
    remote: toRemote({ id, dialect, credentials: credentialsOf(vendor, own), secrets }, load, {
      ...options,
      embeddings: embeddings && { own: embeddings, load: (fetch) => embeddings.load(own, fetch) },
      originals: vendor.originals && ((fetch) => vendor.originals?.(own, fetch)),
    }),
  };
}

function compatibleEntry(
  provider: CompatibleProviderSettings,
  options: EntryOptions,
  secrets: readonly string[],
): Entry {
  const { id, models, defaultModel = models[0] ?? '', enforcesMaxOutput = false } = provider;
  const credentials = `api_key and headers of ${JSON.stringify(id)} in ${compatibleProvidersVariable.name}`;
  const load = (fetch: Fetch): Promise<LanguageModels> => loadCompatible(provider, fetch);
  return {
    info: {
      ...listed({ ...provider, defaultModel }, options.settings),
      configured: true,
      settings: [{ ...compatibleProvidersVariable, required: true, set: true }],
    },
    address: provider.baseUrl,
    remote: toRemote(
      { id, dialect: compatibleDialect(provider), credentials, secrets },
      load,
      {
        ...options,
        embeddings: {
          own: compatibleEmbeddings,
          load: async (fetch) => (await createCompatible(provider, fetch)).embeddingModel,
        },
      },
      enforcesMaxOutput,
    ),
  };
}

/**
 * @param load creates the models; they send with the given `fetch`
 * @param isKept whether the provider obeys the limit of output tokens that it gets
 */
function toRemote(
  about: Omit<CalledProvider, 'models' | 'ceilingOf'>,
  load: (fetch: Fetch) => Promise<LanguageModels>,
  { settings, fetch, streamFetch, turns, embeddings, originals }: RemoteOptions,
  isKept = true,
): Remote {
  const { dialect } = about;
  const twin = { ...about, models: once(() => load(twinFetch)) };
  const findOutputLimit = createOutputLimitFinder(twin);
  // An answer with vectors has no output tokens.
  const outputLimit: Remote['outputLimit'] = async (request) => {
    if (request.original !== undefined) return request.parameters?.max_output_tokens;
    return request.embedding === undefined ? await findOutputLimit(request) : 0;
  };
  const ceilingOf = async (request: GenerateRequest): Promise<TokenCeiling> => {
    const input = inputCeiling(request, dialect);
    if (request.embedding !== undefined) return { ...input, outputTokens: 0, isKept: true };
    const sent = dialect.changesOutputLimit ? await outputLimit(request) : request.parameters?.max_output_tokens;
    // 0 if the package refuses the request.
    return { ...input, outputTokens: sent === 0 ? undefined : sent, isKept };
  };
  const called = { ...about, ceilingOf };
  const whole = once(() => load(withStandIns(fetch, dialect)));
  return {
    whole: { ...called, models: whole, originals: originals?.(fetch) },
    queue: createCallQueue(settings.concurrency),
    streamed: {
      ...called,
      models: once(() => load(withStandIns(streamFetch, dialect))),
      originals: originals?.(streamFetch),
    },
    embeddings: embeddings && {
      ...called,
      own: embeddings.own,
      models: once(() => embeddings.load(withVectors(streamFetch, turns))),
    },
    twin,
    outputLimit,
  };
}

interface RemoteOptions extends EntryOptions {
  /** Undefined if the provider has none. */
  readonly embeddings:
    | { readonly own: EmbeddingProvider['own']; readonly load: (fetch: Fetch) => Promise<EmbeddingModels> }
    | undefined;
  /** Creates what sends requests as their callers wrote them, with the given `fetch`. */
  readonly originals?: ((fetch: Fetch) => Originals | undefined) | undefined;
}

/** The variables with the credentials of a vendor that are set. Of those of Amazon, the API key precedes. */
function credentialsOf({ variables }: Vendor, own: VendorSettings): string {
  const secret = variables.filter((variable) => variable.secret);
  const used = secret.filter(({ setting }) => (own.apiKey ? setting === 'apiKey' : own[setting] !== undefined));
  return new Intl.ListFormat('en').format((used.length > 0 ? used : secret).map(({ name }) => name));
}

function secretsOf({ builtIn, compatible }: ProviderSettings): string[] {
  const ofBuiltIn = providerVariables.map(({ provider, setting, secret }) =>
    secret ? builtIn[provider]?.[setting] : undefined,
  );
  const ofCompatible = compatible.flatMap(({ apiKey, headers = {} }) => [apiKey, ...Object.values(headers)]);
  return [...ofBuiltIn, ...ofCompatible].filter((secret) => secret !== undefined);
}

/** A `fetch` that writes the arguments of tool calls and the data of images where the package has stand-ins for them. */
function withStandIns(fetch: Fetch, { argumentObjects }: Dialect): Fetch {
  const full = withImageData(fetch);
  return argumentObjects === undefined ? withArgumentTexts(full) : withArgumentObjects(full, argumentObjects);
}

function settingsOf({ variables }: Vendor, own: VendorSettings): ProviderSetting[] {
  return variables.map(({ name, setting, required = false, description }) => ({
    name,
    required,
    description,
    set: Boolean(own[setting]),
  }));
}

/**
 * A test run makes up to twenty calls and can wait, so test runs can use half of the places. An eighth of the places is
 * reserved for keys that hold fewer places than that, so that calls which hang delay only their own key.
 */
function createCallQueue(places: number): FairQueue {
  return createFairQueue({ places, reserved: Math.floor(places / 8), background: Math.ceil(places / 2) });
}

function loadOf({ held, waiting, places }: FairQueue): QueueLoad {
  return { active: held, waiting, limit: places };
}

function listed(
  {
    id,
    name,
    models,
    defaultModel,
    embeddings,
  }: Pick<Vendor, 'id' | 'name' | 'models' | 'defaultModel'> & {
    readonly embeddings?: Pick<VendorEmbeddings, 'models'> | undefined;
  },
  settings: ProviderSettings,
): Pick<ProviderInfo, 'id' | 'name' | 'models' | 'defaultModel' | 'embeddingModels'> {
  return { id, name, models: extended(models, id, settings), defaultModel, embeddingModels: embeddings?.models ?? [] };
}

function extended(models: readonly string[], id: string, settings: ProviderSettings): string[] {
  const more = Object.hasOwn(settings.models, id) ? settings.models[id] : undefined;
  return [...new Set([...models, ...(more ?? [])])];
}

/**
 * Caches the package that the first call loads, and models. Failures are not cached. Some packages compile schemas for
 * each new model, which costs ten times as much as a call.
 */
function once<Model extends object>(load: () => Promise<MakeModel<Model>>): () => Promise<MakeModel<Model>> {
  let loaded: Promise<MakeModel<Model>> | undefined;
  return () => {
    loaded ??= load().then(remembering, (error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}

type MakeModel<Model> = (model: string) => Model;

function remembering<Model extends object>(make: MakeModel<Model>): MakeModel<Model> {
  // Bounded, because callers can name any model.
  const made = new LRUCache<string, Model>({ max: 100 });
  return (model) => {
    let known = made.get(model);
    if (known === undefined) {
      known = make(model);
      made.set(model, known);
    }
    return known;
  };
}

function notConfigured(provider: string): ProblemError {
  return new ProblemError('provider-not-configured', {
    detail: `The provider "${provider}" is not configured.`,
    extensions: { provider },
  });
}
