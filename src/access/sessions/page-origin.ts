import type { IncomingHttpHeaders } from 'node:http';

/** The parts of a request that show which page sent it. */
export interface PageRequest {
  readonly headers: IncomingHttpHeaders;
  /** `https` or `http`, as the browser sees it. */
  readonly protocol: string;
  /** Host and port, as the browser sees them. */
  readonly host: string | undefined;
  /** Whether the operator has set them. Else they are what the browser or a proxy says. */
  readonly isPublic?: boolean;
}

/** A request at the address that the operator has set, if any. */
export function atPublicUrl<Sent extends PageRequest & { readonly ip?: string | undefined }>(
  request: Sent,
  publicUrl: URL | undefined,
): PageRequest & { readonly ip?: string | undefined } {
  if (publicUrl === undefined) return request;
  return {
    headers: request.headers,
    // Express computes the address when it is read.
    get ip() {
      return request.ip;
    },
    protocol: publicUrl.protocol.replace(':', ''),
    host: publicUrl.host,
    isPublic: true,
  };
}

/** `unknown` for requests that no browser sends: without any field that shows the page. */
export type PageOrigin = 'same-origin' | 'cross-origin' | 'unknown';

/**
 * Whether a page of the service's own origin sent the request. No page can set or change these fields (Fetch, "forbidden
 * request-header"). `Sec-Fetch-Site` decides. Browsers leave it out for plain HTTP to another machine; then `Origin`
 * decides, or for a GET, which has no `Origin`, `Referer`. So pages have the `Referrer-Policy` `same-origin`. If the
 * operator has set the address of the service, a page of another one is not of its origin.
 */
export function pageOrigin({ headers, protocol, host = '', isPublic = false }: PageRequest): PageOrigin {
  const site = headers['sec-fetch-site'];
  const page = headers.origin ?? headers.referer;
  const own = originOf(`${protocol}://${host}`);
  const isOwn = page !== undefined && own !== undefined && originOf(page) === own;
  if (isPublic && page !== undefined && !isOwn) return 'cross-origin';
  if (site !== undefined) return site === 'same-origin' ? 'same-origin' : 'cross-origin';
  if (page === undefined) return 'unknown';
  return isOwn ? 'same-origin' : 'cross-origin';
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
