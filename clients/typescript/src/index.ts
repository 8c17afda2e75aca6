import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './generated/types.ts';

export type { components, operations, paths } from './generated/types.ts';

/** Creates a client that has every path of the contract. */
export function createRawClient(options: { baseUrl: string; apiKey: string }): Client<paths> {
  return createClient<paths>({ baseUrl: options.baseUrl, headers: { authorization: `Bearer ${options.apiKey}` } });
}
