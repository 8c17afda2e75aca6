import type { Call } from 'prompt-gateway-client';

/** A resource as it was read, with the `ETag` that a change of it sends. */
export interface Versioned<Data> {
  data: Data;
  etag: string | undefined;
}

/** Waits for a call and keeps the `ETag` of its answer: `await versioned(gateway.products.get(id))`. */
export async function versioned<Data>(call: Call<Data>): Promise<Versioned<Data>> {
  const { data, response } = await call.withResponse();
  return { data, etag: response.headers.get('etag') ?? undefined };
}
