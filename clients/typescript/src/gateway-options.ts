import type { StreamLimits } from './call-options.ts';
import type { OperationName } from './generated/operations.ts';

/** A request that is about to be sent. It has no headers and no bodies, because these can contain secrets. */
export interface RequestEvent {
  /** The called method, such as `prompts.invoke`. */
  operation: OperationName;
  method: string;
  url: string;
  /** 1 for the first attempt of the call. */
  attempt: number;
}

/** An attempt that has ended. */
export interface AttemptEvent extends RequestEvent {
  durationMs: number;
  /** HTTP status; `undefined` without an answer. */
  status: number | undefined;
  /** `X-Request-Id` of the answer. */
  requestId: string | undefined;
  /** The reason why the attempt failed. */
  error: unknown;
  /** Milliseconds until the call is repeated; `undefined` if this was the last attempt. */
  retryInMs: number | undefined;
}

/** Functions for logs and metrics. Errors that they throw are ignored. */
export interface Hooks {
  /** Called before each attempt. */
  onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Called after each attempt. The attempt of a stream ends with its first event. */
  onAttempt?: ((event: AttemptEvent) => void) | undefined;
}

/** Options of `PromptGateway`. */
export interface GatewayOptions extends StreamLimits {
  /** Address of the service, such as `https://gateway.example.com`. It can have a path, if the service is behind a proxy. */
  baseUrl: string;
  /**
   * The API key. `null` sends none: for operations without a key, and for pages of the service's own origin, for which
   * the browser sends the session cookie.
   */
  apiKey: string | null;
  /** Allows an API key in a browser, where everyone who opens the page can read it. False by default. */
  dangerouslyAllowBrowser?: boolean | undefined;
  /** Headers for every request, for example for a proxy in front of the service. */
  headers?: Record<string, string> | undefined;
  /** Used instead of the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  hooks?: Hooks | undefined;
}

/**
 * Checks options that the compiler cannot check, before a request fails because of them. No message contains the key.
 *
 * @returns the address without a slash at its end
 * @throws TypeError
 */
export function checkOptions({ baseUrl, apiKey, dangerouslyAllowBrowser }: GatewayOptions): string {
  if (apiKey !== null) {
    if (typeof apiKey !== 'string' || !/^[!-~]+$/.test(apiKey)) {
      throw new TypeError('apiKey must be an API key, or null to send none.');
    }
    if (isBrowser() && dangerouslyAllowBrowser !== true) {
      throw new TypeError(
        'An API key in a page can be read by everybody who opens the page. Call the service from a server, or set dangerouslyAllowBrowser.',
      );
    }
  }
  const page = (globalThis as { location?: { href: string } }).location?.href;
  const url = URL.canParse(baseUrl, page) ? new URL(baseUrl, page) : undefined;
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    `${url.username}${url.password}${url.search}${url.hash}` !== ''
  ) {
    throw new TypeError('baseUrl must be an http or https URL without user name, password, query and fragment.');
  }
  return url.href.replace(/\/+$/, '');
}

/** Pages and their workers. Servers name themselves: Node.js, Deno, Bun, Cloudflare-Workers. */
export function isBrowser(): boolean {
  const { navigator } = globalThis as { navigator?: { userAgent?: string } };
  return navigator?.userAgent?.startsWith('Mozilla/') === true;
}
