import { expect } from '@jest/globals';
import type { components } from '../../generated/types.ts';
import type { Answer, TestService } from '../support/service.ts';
import { promptsPath } from './prompts-harness.ts';

export type Exported = components['schemas']['PromptExport'];

/** The text of an export. */
export async function exportText(service: TestService, query = ''): Promise<string> {
  const answer = await service.call('GET', `${promptsPath}/export${query}`);
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/jsonl');
  return answer.text;
}

/** The prompts of an export. */
export function parseLines(text: string): Exported[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Exported);
}

export function importPrompts(
  service: TestService,
  prompts: readonly unknown[],
  options: { conflicts?: string; dry_run?: boolean } = {},
): Promise<Answer> {
  return service.call('POST', `${promptsPath}/import`, { body: { prompts, ...options } });
}
