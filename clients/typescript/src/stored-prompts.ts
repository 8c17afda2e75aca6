import type { Call } from './call.ts';
import type { CallOptions } from './call-options.ts';
import type { components } from './generated/types.ts';

type Schemas = components['schemas'];

/**
 * The variables of stored prompts, by slug. It is empty: `npx prompt-gateway-client types` writes a file that adds the
 * prompts of your service to it, and then a call with a missing or misspelt variable does not compile.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- it is extended by declaration merging
export interface StoredPrompts {}

/** The request with the prompt's own variables in the place of any variables. */
type WithVariables<Request, Variables> = Omit<Request, 'variables'> &
  (Record<never, never> extends Variables ? { variables?: Variables } : { variables: Variables });

/** A request for the prompt with this slug; a prompt that is not in `StoredPrompts` takes any variables. */
type RequestFor<Slug extends string, Request> = Slug extends keyof StoredPrompts
  ? WithVariables<Request, StoredPrompts[Slug]>
  : Request;

/** The body can be left out if no member of it is required. */
type BodyAndOptions<Body, Options> =
  Record<never, never> extends Body ? [body?: Body, options?: Options] : [body: Body, options?: Options];

export type InvokeMethod = <Slug extends string>(
  slugOrId: Slug,
  ...rest: BodyAndOptions<RequestFor<Slug, Schemas['InvokeRequest']>, CallOptions<'invokePrompt'>>
) => Call<Schemas['InvocationResult']>;

export type CreateTestRunMethod = <Slug extends string>(
  slugOrId: Slug,
  ...rest: BodyAndOptions<RequestFor<Slug, Schemas['TestRunCreate']>, CallOptions<'createTestRun'>>
) => Call<Schemas['TestRunWithResults'] | Schemas['TestRun']>;
