import type { Schemas } from 'prompt-gateway-client';

/** How an attempt can have ended. */
export const outcomes = [
  '2xx',
  '3xx',
  '4xx',
  '5xx',
  'timeout',
  'connection-refused',
  'connection-lost',
  'connect-timeout',
  'unreachable',
  'name-not-found',
  'target-refused',
  'certificate-self-signed',
  'certificate-unknown-issuer',
  'certificate-expired',
  'certificate-not-yet-valid',
  'certificate-other-name',
  'not-tls',
  'tls-failed',
  'not-http',
  'head-too-large',
  'proxy-unreachable',
  'proxy-credentials',
  'proxy-refused',
  'other',
] as const satisfies readonly Schemas['DeliveryOutcome'][];
