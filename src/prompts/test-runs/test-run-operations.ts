import type { components } from '../../../generated/types.ts';
import { revisionTag } from '../../http/conditional.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { readTags } from '../../accounting/invocations/tags.ts';
import { answerPage } from '../../http/list-answer.ts';
import { unknownVariableWarnings } from '../generation/render-prompt.ts';
import { toJsonText } from '../../base/runtime/json-text.ts';
import { prefersAsync } from './prefer.ts';
import { testRunFields, type TestRun } from './test-run.ts';
import type { TestRuns } from './test-runs.ts';

type TestRunOperations = Pick<OperationHandlers, 'createTestRun' | 'listTestRuns' | 'getTestRun' | 'getTestRunResults'>;
type Schemas = components['schemas'];

export function testRunOperations(testRuns: TestRuns): TestRunOperations {
  return {
    async createTestRun({ path: { slugOrId }, headers, body, context }) {
      const outcome = await testRuns.run({
        invoker: context,
        isRepeatable: headers['Idempotency-Key'] !== undefined,
        slugOrId,
        version: body.version,
        label: body.label,
        unsupported: body.unsupported,
        targets: body.providers,
        variables: body.variables,
        respondAsync: prefersAsync(headers.Prefer),
        tags: readTags(context.principal.tags, headers['X-Tags']),
      });
      const { run } = outcome;
      const Location = `/api/v1/test-runs/${run.id}`;
      if (outcome.kind === 'started') {
        return { status: 202, headers: { Location, 'Preference-Applied': 'respond-async' }, body: toTestRun(run) };
      }
      return {
        status: 201,
        headers: { Location },
        body: toJsonText<Schemas['TestRunWithResults']>({
          ...toTestRun(run),
          finished_at: finishedAt(run),
          results: outcome.results,
        }),
      };
    },
    listTestRuns(input) {
      const { path, query } = input;
      return answerPage(input, () => testRuns.list(path.slugOrId, query.status), toTestRun);
    },
    async getTestRun({ path: { id }, context: { principal } }) {
      const run = await testRuns.get(id, principal.reach);
      return { status: 200, headers: { ETag: revisionTag(run) }, body: toTestRun(run) };
    },
    async getTestRunResults({ path: { id }, context }) {
      const { run, length, content } = await testRuns.results(id, context.principal, context.signal);
      return {
        status: 200,
        headers: { ETag: `"${run.id}.results"` },
        stream: { mediaType: 'application/json', length, content },
      };
    },
  };
}

function toTestRun(run: TestRun): Schemas['TestRun'] {
  return { ...testRunFields.show(run), ...unknownVariableWarnings(run.unknownVariables) };
}

/** A run that is done has ended. */
function finishedAt(run: TestRun): string {
  return (run.finishedAt ?? run.createdAt).toISOString();
}
