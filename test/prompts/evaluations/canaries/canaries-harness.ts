import { expect } from '@jest/globals';
import type { Answer, TestService } from '../../../support/service.ts';
import { labelPath, setLabel } from '../../labels/labels-harness.ts';
import { create, promptsPath, saying } from '../../prompts-harness.ts';

export const any = { 'If-Match': '*' };
export const production = 'production';
/** Half of the invocations, for an hour. */
export const half = { version: 2, share: 0.5, hours: 1 };

export function rolloutPath(prompt: string, label = production): string {
  return `${labelPath(prompt, label)}/rollout`;
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

/** Starts or changes the rollout of `production`. */
export function setRollout(
  service: TestService,
  prompt: string,
  body: object = half,
  headers: Record<string, string> = any,
): Promise<Answer> {
  return service.call('PUT', rolloutPath(prompt), { body, headers });
}

export function getRollout(service: TestService, prompt: string): Promise<Answer> {
  return service.call('GET', rolloutPath(prompt));
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
  rollout: string,
): Promise<Record<'stable' | 'canary', { requests: number; failures: number }>> {
  const counts = { stable: { requests: 0, failures: 0 }, canary: { requests: 0, failures: 0 } };
  const { text } = await service.call('GET', `/api/v1/invocations/export?rollout_id=${rollout}`);
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const record = JSON.parse(line) as { rollout: { arm: 'stable' | 'canary'; outcome: string } };
    if (record.rollout.outcome === 'not-counted') continue;
    counts[record.rollout.arm].requests += 1;
    if (record.rollout.outcome === 'failed') counts[record.rollout.arm].failures += 1;
  }
  return counts;
}

/** The rollouts in the history of the label, the latest first. */
export async function historyOfRollouts(service: TestService, prompt: string): Promise<Answer['body'][]> {
  const { body } = await service.call('GET', `${labelPath(prompt, production)}/history`);
  return (body.data as { version?: number; rollout?: object }[]).map(({ version, rollout }) => ({ version, rollout }));
}
