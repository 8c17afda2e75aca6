import type { components } from '../../../generated/types.ts';
import { insufficientScope } from '../../base/errors/insufficient-scope.ts';
import { createAnswersInParts } from '../../http/answer-in-parts.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { defined } from '../../base/runtime/objects.ts';
import type { ExportPrompts } from './export-prompts.ts';
import type { ImportedPrompt, Imports } from './import-prompts.ts';

/** The most notes, and errors, of a prompt that an answer names. */
const mostFindings = 100;

/** The operations that take prompts from one installation to another. */
export function transferOperations(
  exportAll: ExportPrompts,
  imports: Imports,
): Pick<OperationHandlers, 'exportPrompts' | 'importPrompts'> {
  const answer = createAnswersInParts('application/jsonl');
  return {
    async exportPrompts({ query: { after, versions = 'all' }, context }) {
      const { reach } = context.principal;
      const selection = { reach, after, isOnlyCurrent: versions === 'current' };
      return await answer((countIds) => exportAll(selection, countIds), context);
    },

    async importPrompts({ body: { prompts, conflicts = 'refuse', dry_run: isDryRun = false }, context }) {
      const { scopes } = context.principal;
      const hasLabels = prompts.some(({ labels = {} }) => Object.keys(labels).length > 0);
      if (hasLabels && !scopes.has('prompts:release')) throw insufficientScope('prompts:release');
      const wanted = { prompts, conflicts };
      const results = isDryRun ? await imports.preview(wanted, context) : await imports.store(wanted, context);
      return { status: 200, body: { dry_run: isDryRun, results: results.map(showImported) } };
    },
  };
}

function showImported({
  slug,
  status,
  stored,
  notes,
  errors,
}: ImportedPrompt): components['schemas']['PromptImportResult']['results'][number] {
  return {
    slug,
    status,
    ...defined({ id: stored?.id, version: stored?.version }),
    ...(notes.length > 0 && { notes: notes.slice(0, mostFindings) }),
    ...(errors.length > 0 && { errors: errors.slice(0, mostFindings) }),
  };
}
