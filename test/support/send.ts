/** The key of the administrator in every service that tests start as a process. */
export const adminKey = 'administrator-key-of-the-tests-0123456789';

/** Sends JSON with the key of the administrator, unless `headers` contain another key, or undefined for none. A body that is a string is sent as it is. */
export function send(
  { url = '' }: { readonly url?: string | undefined },
  method: string,
  target: string,
  body?: unknown,
  headers: Readonly<Record<string, string | undefined>> = {},
  signal?: AbortSignal,
): Promise<Response> {
  const all = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json', ...headers };
  return fetch(url + target, {
    method,
    headers: Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  });
}
