import type { components } from '../../../../generated/types.ts';
import { insufficientScope } from '../../../base/errors/insufficient-scope.ts';
import { ifMatchRevision, requireConditions, revisionTag, type Conditions } from '../../../http/conditional.ts';
import { createAnswersInParts } from '../../../http/answer-in-parts.ts';
import { answerPage } from '../../../http/list-answer.ts';
import type { OperationHandlers } from '../../../http/operation.ts';
import { datasetFields, versionFields, type Dataset } from './dataset.ts';
import type { Datasets, Precondition, SentLine } from './datasets.ts';

type Schemas = components['schemas'];
type DatasetOperations = Pick<
  OperationHandlers,
  | 'listDatasets'
  | 'getDataset'
  | 'setDataset'
  | 'deleteDataset'
  | 'addDatasetCases'
  | 'listDatasetVersions'
  | 'listDatasetCases'
  | 'exportDatasetCases'
>;

export function datasetOperations(datasets: Datasets): DatasetOperations {
  const answerExport = createAnswersInParts('application/jsonl');
  return {
    async listDatasets(input) {
      return await answerPage(input, () => datasets.list(), show);
    },
    async getDataset({ path: { name } }) {
      const dataset = await datasets.get(name);
      return { status: 200, headers: { ETag: revisionTag(dataset) }, body: show(dataset) };
    },
    async setDataset({ path: { name }, headers, body, context }) {
      // The validators have checked each line.
      const lines = body as AsyncIterable<SentLine>;
      const { dataset, isNew } = await datasets.set(name, lines, expecting(name, headers), context);
      const answer = { headers: { ETag: revisionTag(dataset) }, body: show(dataset) };
      if (!isNew) return { status: 200, ...answer };
      return { status: 201, ...answer, headers: { ...answer.headers, Location: `/api/v1/datasets/${name}` } };
    },
    async deleteDataset({ path: { name }, headers, context }) {
      await datasets.remove(name, expecting(name, headers), context);
      return { status: 200, body: { ok: true } };
    },
    async addDatasetCases({ path: { name }, headers, body, context }) {
      const { cases = [], from_invocations: invocations = [] } = body;
      if (invocations.length > 0 && !context.principal.scopes.has('invocations:content')) {
        throw insufficientScope('invocations:content');
      }
      const { dataset, isNew } = await datasets.add(name, { cases, invocations }, expecting(name, headers), context);
      const answer = { headers: { ETag: revisionTag(dataset) }, body: show(dataset) };
      if (!isNew) return { status: 200, ...answer };
      const Location = `/api/v1/datasets/${name}/versions/${dataset.version}/cases`;
      return { status: 201, ...answer, headers: { ...answer.headers, Location } };
    },
    async listDatasetVersions(input) {
      return await answerPage(input, () => datasets.versions(input.path.name), versionFields.show);
    },
    async listDatasetCases(input) {
      const { path, context } = input;
      return await answerPage(
        input,
        async () => datasets.cases(await datasets.version(path.name, path.version), context.signal),
        (one) => one,
      );
    },
    async exportDatasetCases({ path: { name, version }, context }) {
      const found = await datasets.version(name, version);
      return await answerExport(() => datasets.lines(found, context.signal), context);
    },
  };
}

function expecting(name: string, conditions: Conditions): Precondition {
  return (present) => {
    requireConditions(conditions, `data set "${name}"`, present && ((field) => ifMatchRevision(field, present)));
  };
}

function show(dataset: Dataset): Schemas['Dataset'] {
  return datasetFields.show(dataset);
}
