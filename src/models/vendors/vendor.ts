import type { EmbeddingModelV4, EmbeddingModelV4CallOptions, LanguageModelV4 } from '@ai-sdk/provider';
import type { CacheHint, GenerateRequest, JsonObject, OriginalApi, OriginalRequest } from '../language-model.ts';
import type { Fetch } from '../transport/http.ts';
import type { OptionRule } from './option-rules.ts';

/** Everything that is particular to one vendor of models. Adding a vendor is adding a file, and a line in `index.ts`. */
export interface Vendor<Id extends string = string> {
  readonly id: Id;
  /** Display name. */
  readonly name: string;
  /** One of `models`. */
  readonly defaultModel: string;
  /**
   * The chat models that the service lists: those that the package knows, without dated snapshots, previews of other
   * media and retired names. The list helps to choose a model but does not limit it: any other name is passed on, and
   * configuration can extend the list.
   */
  readonly models: readonly string[];
  /** Public address of the API, used if no base URL is configured. */
  readonly address: string;
  /** That address with its settings filled in, if it has any. */
  readonly addressOf?: (settings: VendorSettings) => string;
  readonly variables: readonly VendorVariable[];
  readonly options: Readonly<Record<string, OptionRule>>;
  /**
   * Members of the bodies of its API that OpenAI's do not have, and that are options of the package. Those of an object are
   * named one by one: `thinking.type`.
   */
  readonly ownMembers?: readonly string[];
  /** Whether everything that a call needs is there; if left out, whether every required variable is set. */
  readonly isConfigured?: (settings: VendorSettings) => boolean;
  readonly dialect: Dialect;
  /**
   * Imports the vendor's package when it is first needed: it takes 70 to 120 ms and some megabytes. Every setting that
   * the package would otherwise read from the environment is passed to it, including the base URL, because only
   * `config/` reads the environment.
   */
  readonly load: (settings: VendorSettings, fetch: Fetch) => Promise<LanguageModels>;
  /** If callers can write requests in the vendor's own API. */
  readonly originals?: (settings: VendorSettings, fetch: Fetch) => Originals;
  /** Absent if it has none. */
  readonly embeddings?: VendorEmbeddings;
}

/** What is particular to the embeddings of a vendor. */
export interface VendorEmbeddings {
  /** The models that the service lists, as for `Vendor.models`. */
  readonly models: readonly string[];
  /** Whether its API is OpenAI's, which takes requests as they are, also with tokens. */
  readonly isOpenAiCompatible?: true;
  /**
   * How the package is told the length of vectors; undefined if the model has none of this length. If left out, as the
   * packages have it in common.
   */
  readonly dimensionsOf?: (
    dimensions: number,
    model: string,
  ) => Pick<EmbeddingModelV4CallOptions, 'dimensions' | 'providerOptions'> | undefined;
  /** As `Vendor.load`. */
  readonly load: (settings: VendorSettings, fetch: Fetch) => Promise<EmbeddingModels>;
}

/** Creates the model with a name, without using the network. */
export type LanguageModels = (model: string) => LanguageModelV4;
/** The same for embeddings. */
export type EmbeddingModels = (model: string) => EmbeddingModelV4;

/** A provider's package, ready for calls. */
export interface SdkProvider {
  /** The provider's id. */
  readonly id: string;
  readonly dialect: Dialect;
  /** The provider's models, loaded on first use. */
  readonly models: () => Promise<LanguageModels>;
  /** If requests can go out as their callers wrote them. */
  readonly originals?: Originals | undefined;
}

/** Sends requests as their callers wrote them. */
export interface Originals {
  readonly api: OriginalApi;
  /** The model that answers the request, whatever its options say. */
  readonly modelFor: (request: GenerateRequest, original: OriginalRequest) => LanguageModelV4;
  /** The provider's own count of the tokens of a request. @param call has the W3C trace context to send with it */
  readonly countTokens: (
    request: GenerateRequest,
    original: OriginalRequest,
    call: { readonly signal: AbortSignal; readonly traceFields: Readonly<Record<string, string>> | undefined },
  ) => Promise<number>;
}

/** Settings of one vendor. Its `variables` define which of them it reads. */
export interface VendorSettings {
  readonly apiKey?: string;
  /** Address that the API's paths are appended to; replaces the public one. */
  readonly baseUrl?: string;
  /** OpenAI organization that calls are billed to. */
  readonly organization?: string;
  /** OpenAI project that calls are billed to. */
  readonly project?: string;
  /** Azure resource name, the first label of `<name>.openai.azure.com`. */
  readonly resourceName?: string;
  /** AWS region, such as `eu-central-1`. */
  readonly region?: string;
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
  readonly sessionToken?: string;
}

export interface VendorVariable {
  /** Name in the environment: the name that the vendor's package uses, if it has one. */
  readonly name: string;
  /** The field of `VendorSettings` that it sets. */
  readonly setting: keyof VendorSettings;
  /** An absolute http or https address without credentials; text if left out. */
  readonly format?: 'url';
  /** Set for values that must never be printed or logged. */
  readonly secret?: true;
  /** Set if the vendor cannot be called without it, and no other one can replace it. */
  readonly required?: true;
  /** One sentence, for `--help` and `.env.example`. */
  readonly description: string;
}

/** Options of provider packages by the name under which they are read. */
export type SdkOptions = Readonly<Record<string, JsonObject>>;

/** The messages that can have texts. Those of developers are system messages for the packages. */
export type TextHolder = 'system' | 'user' | 'assistant' | 'tool';

/** What the packages do differently. */
export interface Dialect {
  /** The name under which the package reads its options and writes its metadata. */
  readonly name: string;
  /**
   * The messages whose texts the package sends as parts; only those of users if left out. The texts of others become one,
   * with a blank line between them.
   */
  readonly textParts?: readonly TextHolder[];
  /** Whether the provider's API separates the system instruction from the conversation: see `systemFirst`. */
  readonly systemFirst?: boolean;
  /**
   * Set if the provider's API has the arguments of tool calls as an object: the member of its answers that they are in.
   * Elsewhere arguments are a text.
   */
  readonly argumentObjects?: 'args' | 'input';
  /** The option that stands for `parallel_tool_calls`; absent if the provider has no such setting. */
  readonly parallelToolCalls?: (isAllowed: boolean) => SdkOptions;
  /** Whether the option `strictJsonSchema` exists; otherwise the provider decides whether a schema is strict. */
  readonly strictJsonSchema?: boolean;
  /** Whether the provider's API has no place for the name and the description of a schema. */
  readonly unnamedSchemas?: boolean;
  /** Whether the provider opens images by their https addresses; absent if the package knows. */
  readonly imageUrls?: boolean;
  /** The most tokens of an image; a number that suffices everywhere if left out. */
  readonly imageTokens?: number;
  /** Whether the results of tools can have images. */
  readonly resultImages?: true;
  /** Whether the package sends another limit of output tokens than that of the request. */
  readonly changesOutputLimit?: true;
  /** Whether the provider needs its reasoning back even if it has no signature. */
  readonly returnsReasoning?: true;
  /** Whether the package signs the bodies of requests, so that they must not change after it. */
  readonly signsBodies?: true;
  /** How the package passes breakpoints of the provider's own cache on; absent if it cannot. */
  readonly promptCache?: PromptCacheDialect;
  /** Options of every call. The options of a request cannot change them. */
  readonly options?: JsonObject;
}

/** Breakpoints of a provider's own cache. */
export interface PromptCacheDialect {
  /** The options of a part or a tool that set one; undefined if the model knows none. */
  readonly toOptions: (control: CacheHint, model: string) => JsonObject | undefined;
  /** Whether tools can have them. */
  readonly takesTools?: true;
  /** Whether calls of tools can have them. */
  readonly takesCalls?: true;
  /** The most in one call; any number if left out. */
  readonly most?: number;
}

/** Thrown for a name that cannot be a model of this vendor; nothing was sent. */
export class ImpossibleModelError extends Error {
  constructor() {
    super('The provider cannot have a model with this name.');
    this.name = 'ImpossibleModelError';
  }
}

/** The dialect of packages that have options for everything. */
export function chatDialect(name: string): Dialect {
  return {
    name,
    strictJsonSchema: true,
    parallelToolCalls: (isAllowed) => ({ [name]: { parallelToolCalls: isAllowed } }),
  };
}

/** What most packages take. */
export function accessTo(
  address: string,
  { apiKey = '', baseUrl }: VendorSettings,
  fetch: Fetch,
): { apiKey: string; baseURL: string; fetch: Fetch } {
  return { apiKey, baseURL: baseUrl || address, fetch };
}

export function apiKeyVariable(name: string, vendor: string): VendorVariable {
  return {
    name,
    setting: 'apiKey',
    secret: true,
    required: true,
    description: `API key for ${vendor}. Setting it makes the provider available.`,
  };
}

export function baseUrlVariable(name: string, address: string): VendorVariable {
  return {
    name,
    setting: 'baseUrl',
    format: 'url',
    description: `Address of the API, if it is not ${address}.`,
  };
}
