/** Headers of a delivery: a `Headers`, `request.headers` of Node, or a plain object. Case does not matter. */
export type DeliveryHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** @param name in lower case */
export function readHeader(headers: DeliveryHeaders, name: string): string | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === 'object' ? value.join() : value;
}

function isHeaders(headers: DeliveryHeaders): headers is { get(name: string): string | null } {
  return typeof headers['get'] === 'function';
}
