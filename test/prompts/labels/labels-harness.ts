import { expect } from '@jest/globals';
import type { Answer, CallOptions, TestService } from '../../support/service.ts';
import { promptsPath } from '../prompts-harness.ts';

/** The path of a label. */
export function labelPath(prompt: string, label: string): string {
  return `${promptsPath}/${prompt}/labels/${label}`;
}

/** Creates or moves a label, by default in any state. */
export function setLabel(
  service: TestService,
  prompt: string,
  label: string,
  version: number,
  options: CallOptions = { headers: {} },
): Promise<Answer> {
  return service.call('PUT', labelPath(prompt, label), { body: { version }, ...options });
}

/** Makes a label name these versions, one after the other. @returns its last answer */
export async function moveThrough(
  service: TestService,
  prompt: string,
  label: string,
  versions: readonly number[],
): Promise<Answer> {
  let last: Answer | undefined;
  for (const version of versions) {
    const etag = last?.headers['etag'];
    last = await setLabel(service, prompt, label, version, etag === undefined ? {} : { headers: { 'If-Match': etag } });
    expect([200, 201]).toContain(last.status);
  }
  if (last === undefined) throw new Error('no versions');
  return last;
}

/** The versions of a label's history, the latest first; `undefined` for deletions. */
export async function historyOf(service: TestService, prompt: string, label: string): Promise<(number | undefined)[]> {
  const { status, body } = await service.call('GET', `${labelPath(prompt, label)}/history?limit=100`);
  expect(status).toBe(200);
  const moves = body.data as { sequence: number; version?: number }[];
  // Each number once, without gaps.
  expect(moves.map(({ sequence }) => sequence)).toEqual(moves.map((_, index) => moves.length - index));
  return moves.map(({ version }) => version);
}
