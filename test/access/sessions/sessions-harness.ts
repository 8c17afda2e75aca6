import { expect } from '@jest/globals';
import type { Answer, CallOptions, TestService } from '../../support/service.ts';

export const path = '/api/v1/session';
/** The headers that a browser sends from a page of the service. */
export const samePage = { 'sec-fetch-site': 'same-origin' };

/** Sends `createSession` from a page of the service. */
export function signIn(
  service: TestService,
  body: object,
  headers: Record<string, string> = samePage,
): Promise<Answer> {
  return service.call('POST', path, { key: null, body, headers });
}

/** Signs in with a key. @returns the headers that the browser sends after that */
export async function cookieFor(service: TestService, key: string): Promise<string> {
  const answer = await signIn(service, { api_key: key });
  expect(answer.status).toBe(201);
  return cookieOf(answer);
}

/** `<name>=<value>` of the cookie that an answer sets. */
export function cookieOf({ headers }: Answer): string {
  return headers['set-cookie']?.split(';')[0] ?? '';
}

/** Sends a request as a page of the service does, with the cookie of a session and without a key. */
export function callWith(
  service: TestService,
  cookie: string,
  method = 'GET',
  target = '/api/v1/whoami',
  { headers = {}, ...options }: CallOptions = {},
): Promise<Answer> {
  return service.call(method, target, { key: null, ...options, headers: { ...samePage, ...headers, cookie } });
}
