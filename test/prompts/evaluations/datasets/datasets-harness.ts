import type { Answer, TestService } from '../../../support/service.ts';

export const datasetsPath = '/api/v1/datasets';

/** Sets a data set to these lines. */
export function setDataset(
  service: TestService,
  name: string,
  lines: readonly string[],
  headers: Record<string, string> = {},
): Promise<Answer> {
  const options = { headers: { 'Content-Type': 'application/x-ndjson', ...headers } };
  return service.call('PUT', `${datasetsPath}/${name}`, {
    ...options,
    body: lines.map((line) => `${line}\n`).join(''),
  });
}
