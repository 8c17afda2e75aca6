import { defaultTiming, type WebhookTiming } from '../../../src/webhooks/timing.ts';

/** The design's times, shortened so that leases run out, breakers close and retries come within seconds. */
export const faultTiming: WebhookTiming = {
  ...defaultTiming,
  schedule: [0, 500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000, 4_000, 4_000],
  connectTimeout: 1_000,
  totalTimeout: 2_000,
  lease: 4_000,
  renewal: 800,
  poll: 500,
  inactive: 1_000,
  breaker: { failures: 5, firstOpen: 500, longestOpen: 2_000 },
};

/** How timing travels to a service process: a variable of these tests, not of the service. */
export const timingVariable = 'FAULTS_WEBHOOK_TIMING';
