import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startTestService, type Answer, type TestService, type TestServiceOptions } from '../support/service.ts';
import { until } from '../support/until.ts';

/** A service that writes its statistics at once. */
export function startCounting(options: TestServiceOptions = {}): Promise<TestService> {
  const environment = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', ...options.environment };
  return startTestService({ statisticsEveryMs: 20, ...options, environment });
}

/** Reads statistics again and again until the totals have these members. */
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

/** The sum of a number over all points. */
export function sumOfPoints({ points }: Answer['body'], name: string): number {
  return (points as Record<string, number>[]).reduce((sum, point) => sum + (point[name] ?? 0), 0);
}

export { startReceiver, type Receiver };
