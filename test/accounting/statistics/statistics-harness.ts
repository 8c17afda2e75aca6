import { expect } from '@jest/globals';
import { systemClock, type Clock } from '../../../src/base/runtime/clock.ts';
import type { Answer, TestService, TestServiceOptions } from '../../support/service.ts';
import { until } from '../../support/until.ts';

export const statisticsPath = '/api/v1/statistics';

/** Settings of services that write their statistics immediately. */
export const counting = {
  environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
  statisticsEveryMs: 20,
} satisfies TestServiceOptions;

/** A wall clock that changes only when a test sets it. Durations are not affected. */
export interface StandingClock extends Clock {
  set(time: string): void;
}

export function createStandingClock(time: string): StandingClock {
  let at = new Date(time);
  return {
    now: () => new Date(at),
    monotonic: systemClock.monotonic,
    set(next) {
      at = new Date(next);
    },
  };
}

/** Creates a prompt that says "Hello {{name}}" to `echo`, four words in and out for a name of two words. @returns its path */
export async function createGreeting(service: TestService): Promise<string> {
  const { status, body } = await service.call('POST', '/api/v1/prompts', {
    body: {
      name: 'Greeting',
      messages: [{ role: 'user', content: 'Hello {{name}}' }],
      variables: { name: { required: true } },
      selected_provider: 'echo',
    },
  });
  expect(status).toBe(201);
  return `/api/v1/prompts/${(body as { id: string }).id}`;
}

/** Invokes a prompt of `createGreeting`. */
export function greet(
  service: TestService,
  prompt: string,
  body: Record<string, unknown> = { variables: { name: 'World' } },
  headers: Record<string, string> = {},
): Promise<Answer> {
  return service.call('POST', `${prompt}/invoke`, { body, headers });
}

/** Repeats a request for statistics until the totals have these members. */
export async function untilTotals(
  service: TestService,
  path: string,
  expected: Readonly<Record<string, number>>,
): Promise<Answer['body']> {
  const { body } = await until(
    () => service.call('GET', path),
    ({ body: { totals } }) => Object.entries(expected).every(([name, value]) => totals[name] === value),
  );
  return body;
}

/** The points with a number above 0: their times and numbers. */
export function pointsWith({ points }: Answer['body'], name: string): [at: string, count: number][] {
  return (points as Record<string, number>[])
    .filter((point) => point[name] !== 0)
    .map((point) => [String(point['at']), point[name] ?? 0]);
}
