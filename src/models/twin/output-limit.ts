import { LRUCache } from 'lru-cache';
import type { GenerateRequest } from '../language-model.ts';
import type { SdkProvider } from '../vendors/vendor.ts';
import { bodyOf } from './twin.ts';

/**
 * Creates the function that finds the limit of output tokens in what a provider would get. The packages make it of the
 * model, the request's own limit, and what the model may think; `test/models/ceilings.test.ts` holds them to that.
 *
 * @param twin The provider with `twinFetch`
 * @returns a function as `Provider.outputLimit`
 */
export function createOutputLimitFinder(twin: SdkProvider): (request: GenerateRequest) => Promise<number | undefined> {
  const found = new LRUCache<string, { readonly limit: number | undefined }>({ max: 500 });
  return async ({ model, parameters, providerOptions }) => {
    const { max_output_tokens, reasoning_effort } = parameters ?? {};
    const options = providerOptions === undefined ? '' : JSON.stringify(providerOptions);
    const key = `${model} ${max_output_tokens ?? ''} ${reasoning_effort ?? ''} ${options}`;
    let known = found.get(key);
    if (known === undefined) {
      const thinking = {
        ...(max_output_tokens !== undefined && { max_output_tokens }),
        ...(reasoning_effort !== undefined && { reasoning_effort }),
      };
      known = {
        limit: await find(twin, { model, messages, parameters: thinking, ...(providerOptions && { providerOptions }) }),
      };
      found.set(key, known);
    }
    return known.limit;
  };
}

const messages: GenerateRequest['messages'] = [{ role: 'user', content: 'text' }];

async function find(twin: SdkProvider, request: GenerateRequest): Promise<number | undefined> {
  const body = await bodyOf(twin, request);
  return body === undefined ? 0 : limitIn(JSON.parse(body) as WireBody);
}

/** Where the APIs have the limit. */
interface WireBody {
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly max_output_tokens?: number;
  readonly generationConfig?: { readonly maxOutputTokens?: number };
  readonly inferenceConfig?: { readonly maxTokens?: number };
}

function limitIn({ generationConfig, inferenceConfig, ...body }: WireBody): number | undefined {
  return (
    body.max_completion_tokens ??
    body.max_tokens ??
    body.max_output_tokens ??
    generationConfig?.maxOutputTokens ??
    inferenceConfig?.maxTokens
  );
}
