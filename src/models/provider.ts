import type { ProviderVariable } from './provider-settings.ts';
import type {
  AnswerForm,
  CallOptions,
  GenerateEvent,
  GenerateRequest,
  OriginalApi,
  TokenCeiling,
} from './language-model.ts';

/** A provider as the contract's Provider schema shows it. */
export interface ProviderInfo {
  readonly id: string;
  readonly name: string;
  readonly models: readonly string[];
  /** One of `models`, unless a key may use only embeddings. */
  readonly defaultModel: string;
  /** Models of embeddings. `models` can have others. */
  readonly embeddingModels: readonly string[];
  /** Whether everything that a call needs is configured. */
  readonly configured: boolean;
  /** The environment variables that configure it. */
  readonly settings: readonly ProviderSetting[];
}

/** An environment variable of a provider, without its value. */
export interface ProviderSetting extends Pick<ProviderVariable, 'name' | 'description'> {
  readonly required: boolean;
  readonly set: boolean;
}

export interface Provider extends ProviderInfo {
  /** The API in which requests can go out as their callers wrote them; undefined if there is none. */
  readonly originalApi?: OriginalApi | undefined;
  /**
   * The provider's own count of the tokens of a request; absent if it has none. It costs nothing. With an `originalApi` the
   * request has to be in that.
   *
   * @throws as `answer`
   */
  countTokens?(request: GenerateRequest, call: CallOptions): Promise<number>;

  /**
   * Runs a prompt. The last event has the whole answer; if it is streamed, the pieces come before.
   *
   * Until the first event a call is repeated at most twice, before the deadline. After that a failure is thrown as
   * ProblemError whose extension `usage` has the usage as far as it is known. Leaving the loop cancels the call.
   *
   * @throws ProblemError `provider-*` (502) for every failure of the provider, `provider-not-configured` (422).
   * @throws The reason of `call.signal`, unchanged, when that is aborted, because no caller can read a problem then.
   */
  answer(request: GenerateRequest, call: CallOptions, form: AnswerForm): AsyncGenerator<GenerateEvent, void, void>;
  /**
   * What the provider cannot do with a request. Nothing is sent.
   *
   * @returns Empty for a request that has only text messages.
   */
  unsupported(request: GenerateRequest): Promise<readonly Unsupported[]>;
  /** The most inputs of a call for vectors. Nothing is sent. */
  mostInputs(model: string): Promise<number>;
  /** What the provider gets in another form than the request has it. Nothing is sent. */
  rewritten(request: GenerateRequest): Promise<readonly Unsupported[]>;
  /**
   * The limit of output tokens that the provider gets. Nothing is sent.
   *
   * @returns undefined if it gets none; 0 if the package refuses the request
   */
  outputLimit(request: GenerateRequest): Promise<number | undefined>;
  /** The most tokens that a call with this request can be charged for. Nothing is sent. */
  ceiling(request: GenerateRequest): Promise<TokenCeiling>;
}

/** Whether a model is in the lists of its provider. Callers can name any other. */
export function isListed({ models, embeddingModels }: ProviderInfo, model: string): boolean {
  return models.includes(model) || embeddingModels.includes(model);
}

/** The models in the lists of a provider, each once. */
export function listedModels({ models, embeddingModels }: ProviderInfo): readonly string[] {
  return [...new Set([...models, ...embeddingModels])];
}

/** A member of a request that the provider ignores or refuses. */
export interface Unsupported {
  /** A path in the contract's names: `tools`, `parameters/seed`, `messages/3/content/0`. */
  readonly member: string;
  /** One sentence. */
  readonly detail: string;
  /** Whether the request has no meaning without it. False if left out. */
  readonly isNeeded?: boolean;
}

export interface ProviderRegistry {
  /** Built-in providers first, then those of the configuration, each in a fixed order. */
  list(): readonly ProviderInfo[];
  get(id: string): Provider | undefined;
  /**
   * Loads the packages of the configured providers (70 to 120 ms each) before the first call. Never fails: the first
   * call repeats a failed load.
   */
  preload(): Promise<void>;
  /** The calls of the configured providers with a queue, and all streamed calls together. */
  load(): { readonly providers: readonly ProviderLoad[]; readonly streams: QueueLoad };
}

/** Numbers of calls at this moment. */
export interface QueueLoad {
  /** In progress. */
  readonly active: number;
  /** In the queue. */
  readonly waiting: number;
  /** The most in progress. */
  readonly limit: number;
}

/** The whole (not streamed) calls of a provider. */
export interface ProviderLoad extends QueueLoad {
  readonly provider: string;
}
