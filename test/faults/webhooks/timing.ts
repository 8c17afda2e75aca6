import { defaultTiming, type WebhookTiming } from '../../../src/webhooks/timing.ts';

/** Shorter times than those of the design, so that leases end, breakers close and retries happen within seconds. */
export const faultTiming: WebhookTiming = {
  ...defaultTiming,
  schedule: [0, 500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000, 4_000, 4_000],
  connectTimeout: 1_000,
  totalTimeout: 2_000,
  lease: 4_000,
  beat: 800,
  poll: 500,
  breaker: { failures: 5, firstOpen: 500, longestOpen: 2_000 },
};

/**
 * The environment variable that passes the timing to a service process. It belongs to these tests, not to the service.
 */
export const timingVariable = 'FAULTS_WEBHOOK_TIMING';
