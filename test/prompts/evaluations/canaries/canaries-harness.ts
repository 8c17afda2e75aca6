import { expect } from '@jest/globals';
import type { Answer, TestService } from '../../../support/service.ts';
import { labelPath, setLabel } from '../../labels/labels-harness.ts';
import { create, promptsPath, saying } from '../../prompts-harness.ts';

export const any = { 'If-Match': '*' };
export const production = 'production';
/** Half of the invocations, for an hour. */
export const half = { version: 2, share: 0.5, hours: 1 };

export function canaryPath(prompt: string, label = production): string {
  return `${labelPath(prompt, label)}/canary`;
}

/**
 * A prompt whose label `production` names version 1. Version 2 needs a variable, so that each invocation without it fails.
 * @param members of both versions
 */
export async function createReleased(
  service: TestService,
  members: Record<string, unknown> = {},
): Promise<{ id: string; slug: string }> {
  const prompt = await create(service, { ...saying('Hello'), selected_provider: 'echo', ...members });
  await service.call('PUT', `${promptsPath}/${prompt.id}`, { body: saying('Hello {{name}}') });
  expect((await setLabel(service, prompt.id, production, 1)).status).toBe(201);
  return prompt;
}

/** Starts or changes the canary of `production`. */
export function setCanary(
  service: TestService,
  prompt: string,
  body: object = half,
  headers: Record<string, string> = any,
): Promise<Answer> {
  return service.call('PUT', canaryPath(prompt), { body, headers });
}

export function getCanary(service: TestService, prompt: string): Promise<Answer> {
  return service.call('GET', canaryPath(prompt));
}

/** Invokes by the label some times. @returns the versions that ran: 2 if the answer is 422 */
export async function invokeMany(
  service: TestService,
  prompt: string,
  times: number,
  body: object = {},
  headers: Record<string, string> = {},
): Promise<number[]> {
  const versions: number[] = [];
  for (let count = 0; count < times; count += 1) {
    const path = `${promptsPath}/${prompt}/invoke`;
    const answer = await service.call('POST', path, { body: { label: production, ...body }, headers });
    expect([200, 422]).toContain(answer.status);
    versions.push(answer.status === 422 ? 2 : Number(answer.headers['x-served-version']));
  }
  return versions;
}

/** What the invocation log says: invocations and failures of each arm, of those that count. */
export async function countsOf(
  service: TestService,
  canary: string,
): Promise<Record<'stable' | 'canary', { requests: number; failures: number }>> {
  const counts = { stable: { requests: 0, failures: 0 }, canary: { requests: 0, failures: 0 } };
  const { text } = await service.call('GET', `/api/v1/invocations/export?canary_id=${canary}`);
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const record = JSON.parse(line) as { canary: { arm: 'stable' | 'canary'; outcome: string } };
    if (record.canary.outcome === 'not-counted') continue;
    counts[record.canary.arm].requests += 1;
    if (record.canary.outcome === 'failed') counts[record.canary.arm].failures += 1;
  }
  return counts;
}

/** The canaries in the history of the label, the latest first. */
export async function historyOfCanaries(service: TestService, prompt: string): Promise<Answer['body'][]> {
  const { body } = await service.call('GET', `${labelPath(prompt, production)}/history`);
  return (body.data as { version?: number; canary?: object }[]).map(({ version, canary }) => ({ version, canary }));
}
