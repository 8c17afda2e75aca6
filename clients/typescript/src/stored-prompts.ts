import type { Call } from './call.ts';
import type { CallOptions, StreamOptions } from './call-options.ts';
import type { components, operations } from './generated/types.ts';
import type { InvocationStream } from './invocation-stream.ts';

type Schemas = components['schemas'];

/**
 * The variables of stored prompts, by slug. It is empty. `npx prompt-gateway-client types` writes a file that adds the
 * prompts of your service. After that, a call with a missing or misspelt variable does not compile.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- it is extended by declaration merging
export interface StoredPrompts {}

/**
 * The type of `object` in the answers of stored prompts with a JSON Schema, by slug. It is empty, like `StoredPrompts`,
 * and the same command fills it.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- it is extended by declaration merging
export interface StoredObjects {}

/**
 * The variables of the versions that labels name, by label and slug. It is empty, and
 * `npx prompt-gateway-client types --label <name>` fills it.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- it is extended by declaration merging
export interface LabelledPrompts {}

/** The type of `object` in the answers of the versions that labels name, by label and slug. */
// oxlint-disable-next-line typescript/no-empty-object-type -- it is extended by declaration merging
export interface LabelledObjects {}

/**
 * The rule for prompts that are not in `StoredPrompts`. The compiler accepts them with any variables, unless `npx
 * prompt-gateway-client types --only-known` added `onlyKnown: true`.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- it is extended by declaration merging
export interface StoredPromptSettings {}

/** A value of a variable: any JSON value except `null`, which means that there is no value. */
export type VariableValue = string | number | boolean | object;

/** Slug or id of a prompt. `string & {}` keeps the known slugs separate from others, so that editors suggest them. */
type SlugOrId = StoredPromptSettings extends { onlyKnown: true }
  ? keyof StoredPrompts & string
  : (keyof StoredPrompts & string) | (string & {});

/** A request with the variables of a prompt instead of any variables. */
type WithVariables<Request, Variables> = Omit<Request, 'variables' | 'version' | 'label'> & {
  version?: undefined;
} & (Record<never, never> extends Variables ? { variables?: Variables } : { variables: Variables });

/** A request for the latest version of the prompt with this slug. A prompt that is not in `StoredPrompts` accepts any variables. */
type RequestFor<Slug extends string, Request> = Slug extends keyof StoredPrompts
  ? WithVariables<Request, StoredPrompts[Slug]> & { label?: undefined }
  : Request;

/** What an interface has for a label and a slug. */
type OfLabel<All, Slug, Label, Otherwise> = Label extends keyof All
  ? Slug extends keyof All[Label]
    ? All[Label][Slug]
    : Otherwise
  : Otherwise;

/** A request for the version that a label names. One that is not in `LabelledPrompts` accepts any variables. */
type LabelRequest<Slug extends string, Label extends string, Request> = { label: Label } & (OfLabel<
  LabelledPrompts,
  Slug,
  Label,
  undefined
> extends undefined
  ? Request
  : WithVariables<Request, OfLabel<LabelledPrompts, Slug, Label, undefined>>);

/** A request for a version. Another one can have other variables, so a request with its number accepts any. */
type OtherRequest<Slug extends string, Label extends string, Request> =
  | (Request & { version: number; label?: undefined })
  | LabelRequest<Slug, Label, Request>;

/** The body can be left out if no member of it is required. */
type BodyAndOptions<Body, Options> =
  Record<never, never> extends Body ? [body?: Body, options?: Options] : [body: Body, options?: Options];

/** A method of a prompt. */
interface PromptMethod<Request, Options, Answered> {
  <Slug extends SlugOrId>(slugOrId: Slug, ...rest: BodyAndOptions<RequestFor<Slug, Request>, Options>): Answered;
  <Slug extends SlugOrId, Label extends string>(
    slugOrId: Slug,
    request: OtherRequest<Slug, Label, Request>,
    options?: Options,
  ): Answered;
}

/** The method decides whether the answer is a stream. */
type InvokeRequest = Omit<Schemas['InvokeRequest'], 'stream'>;

/** Another version, or another format, has other objects. */
type OwnFormat = Omit<InvokeRequest, 'response_format'> & { response_format?: undefined };

type ObjectOf<Slug extends string> = Slug extends keyof StoredObjects ? StoredObjects[Slug] : unknown;

/** The whole answer, with the type of its object. */
type InvocationResult<Object> = Omit<Schemas['InvocationResult'], 'object'> & {
  /** The parsed text of a JSON answer that ended with `stop`. */
  object?: Object;
};

export interface InvokeMethod {
  <Slug extends SlugOrId>(
    slugOrId: Slug,
    ...rest: BodyAndOptions<RequestFor<Slug, OwnFormat>, CallOptions<'invokePrompt'>>
  ): Call<InvocationResult<ObjectOf<Slug>>>;
  <Slug extends SlugOrId>(
    slugOrId: Slug,
    request: RequestFor<Slug, InvokeRequest>,
    options?: CallOptions<'invokePrompt'>,
  ): Call<Schemas['InvocationResult']>;
  <Slug extends SlugOrId, Label extends string>(
    slugOrId: Slug,
    request: LabelRequest<Slug, Label, OwnFormat>,
    options?: CallOptions<'invokePrompt'>,
  ): Call<InvocationResult<OfLabel<LabelledObjects, Slug, Label, unknown>>>;
  <Slug extends SlugOrId, Label extends string>(
    slugOrId: Slug,
    request: OtherRequest<Slug, Label, InvokeRequest>,
    options?: CallOptions<'invokePrompt'>,
  ): Call<Schemas['InvocationResult']>;
}

export type RenderMethod = PromptMethod<
  InvokeRequest,
  CallOptions<'renderPrompt'>,
  Call<operations['renderPrompt']['responses'][200]['content']['application/json']>
>;

export interface StreamMethod {
  <Slug extends SlugOrId>(
    slugOrId: Slug,
    ...rest: BodyAndOptions<RequestFor<Slug, OwnFormat>, StreamOptions<'invokePrompt'>>
  ): InvocationStream<ObjectOf<Slug>>;
  <Slug extends SlugOrId>(
    slugOrId: Slug,
    request: RequestFor<Slug, InvokeRequest>,
    options?: StreamOptions<'invokePrompt'>,
  ): InvocationStream;
  <Slug extends SlugOrId, Label extends string>(
    slugOrId: Slug,
    request: LabelRequest<Slug, Label, OwnFormat>,
    options?: StreamOptions<'invokePrompt'>,
  ): InvocationStream<OfLabel<LabelledObjects, Slug, Label, unknown>>;
  <Slug extends SlugOrId, Label extends string>(
    slugOrId: Slug,
    request: OtherRequest<Slug, Label, InvokeRequest>,
    options?: StreamOptions<'invokePrompt'>,
  ): InvocationStream;
}

type TestRunRequest<Slug extends string> = RequestFor<Slug, Schemas['TestRunCreate']>;
type TestRunOptions = CallOptions<'createTestRun'>;

export interface CreateTestRunMethod {
  <Slug extends string>(
    slugOrId: Slug,
    ...rest: BodyAndOptions<TestRunRequest<Slug>, TestRunOptions & { headers?: { Prefer?: undefined } }>
  ): Call<Schemas['TestRunWithResults']>;
  /** With `Prefer: respond-async` the answer comes before the results. */
  <Slug extends string>(
    slugOrId: Slug,
    ...rest: BodyAndOptions<TestRunRequest<Slug>, TestRunOptions>
  ): Call<Schemas['TestRunWithResults'] | Schemas['TestRun']>;
}
