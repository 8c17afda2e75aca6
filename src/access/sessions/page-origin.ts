import type { IncomingHttpHeaders } from 'node:http';

/** The parts of a request that show which page sent it. */
export interface PageRequest {
  readonly headers: IncomingHttpHeaders;
  /** `https` or `http`, as the browser sees it. */
  readonly protocol: string;
  /** Host and port, as the browser sees them. */
  readonly host: string | undefined;
}

/** `unknown` for requests that no browser sends: without any field that shows the page. */
export type PageOrigin = 'same-origin' | 'cross-origin' | 'unknown';

/**
 * Whether a page of the service's own origin sent the request. No page can set or change these fields (Fetch, "forbidden
 * request-header"). `Sec-Fetch-Site` decides. Browsers leave it out for plain HTTP to another machine; then `Origin`
 * decides, or for a GET, which has no `Origin`, `Referer`. So pages have the `Referrer-Policy` `same-origin`.
 */
export function pageOrigin({ headers, protocol, host = '' }: PageRequest): PageOrigin {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' ? 'same-origin' : 'cross-origin';
  const page = headers.origin ?? headers.referer;
  if (page === undefined) return 'unknown';
  const own = originOf(`${protocol}://${host}`);
  return own !== undefined && originOf(page) === own ? 'same-origin' : 'cross-origin';
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
