import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { operationTable, type OperationId, type OperationRow } from '../../../generated/operations.ts';
import { unknownId } from '../../orders/catalog/catalog-harness.ts';
import { callEveryOperation, environmentOfEveryOperation, type Call } from '../../support/every-operation.ts';
import { startTestService, type Answer, type TestService } from '../../support/service.ts';

let service: TestService;
let calls: Record<OperationId, Call>;
beforeAll(async () => {
  service = await startTestService({ environment: environmentOfEveryOperation });
  calls = await callEveryOperation(service);
});
afterAll(() => service.close());

/** For each filter that names something, values that nothing has. */
const unknown: Readonly<Record<string, readonly string[]>> = {
  prompt: ['no-such-prompt', 'pmpt_none', unknownId],
  category_id: [`cat_${'0'.repeat(32)}`],
  location_id: [unknownId],
  integration_id: [unknownId],
  event_id: [unknownId],
  target_id: [unknownId, `cat_${'0'.repeat(32)}`],
  author_id: [unknownId],
  key_id: [unknownId],
  resource_id: [unknownId, 'no-such-budget'],
  request_id: ['no-such-request'],
  reference_id: ['no-such-reference'],
  label: ['no-such-label'],
  provider: ['no-such-provider'],
  attempt_provider: ['no-such-provider'],
  model: ['no-such-model'],
  attempt_model: ['no-such-model'],
  tag: ['team=no-such-team'],
  refused_by: ['no-such-budget'],
  evaluation_id: [unknownId],
  canary_id: [unknownId],
  arm: ['canary'],
  type: ['TEST'],
  updated_since: ['2999-01-01T00:00:00Z'],
  fiscal_day: ['1999-01-01'],
  spot_id: [unknownId],
};
/** Parameters of queries that name nothing. */
const others = new Set([
  ...['limit', 'offset', 'after', 'since', 'until', 'span', 'by', 'q', 'versions', 'version', 'archived', 'source'],
  ...['status', 'problem', 'event_type', 'last_outcome', 'operation', 'resource_type', 'cached'],
  // Of Anthropic's form of the list of models: a place in it.
  ...['after_id', 'before_id'],
  ...['attempt_problem', 'attempt_status', 'attempt_cost', 'outcome'],
]);

const filters = (Object.entries(operationTable) as [OperationId, OperationRow][]).flatMap(([operation, row]) =>
  row.method === 'GET'
    ? row.parameters
        .filter((parameter) => parameter.in === 'query' && !others.has(parameter.name))
        .flatMap(({ name }) => (unknown[name] ?? ['']).map((value) => [operation, name, value] as const))
    : [],
);

/** The entries of a list, an export, or sums. */
function entriesOf({ body, text, headers }: Answer): unknown[] {
  if (headers['content-type'] === 'application/jsonl') return text.split('\n').filter((line) => line !== '');
  return (body.data ?? body.groups) as unknown[];
}

it.each(filters)('%s has nothing if nothing has the %s %s', async (operation, name, value) => {
  const { path } = calls[operation];
  expect(entriesOf(await service.call('GET', path)).length).toBeGreaterThan(0);
  const filtered = await service.call('GET', `${path}?${name}=${encodeURIComponent(value)}`);
  expect([filtered.status, filtered.status === 200 && entriesOf(filtered)]).toEqual([200, []]);
});
