import { operationTable, type OperationId, type OperationRow } from '../../generated/operations.ts';
import type { OperationHandler, OperationHandlers, OperationInput } from '../http/operation.ts';
import type { Prompts } from './prompts.ts';

/** The planner decides for these, together with what else a key may reach. */
const planned: ReadonlySet<OperationId> = new Set(['invokePrompt', 'renderPrompt', 'createTestRun']);

/**
 * Handlers that do not find a prompt beyond the caller's reach. They cover every path that names a prompt. A caller with
 * such a limit is passed on with the id in place of the slug, so that the slug cannot move to another prompt in between.
 */
export function limitToReach(handlers: OperationHandlers, prompts: Pick<Prompts, 'get'>): OperationHandlers {
  const limit = (handler: OperationHandler<'getPrompt'>): OperationHandler<'getPrompt'> => {
    return async (input: OperationInput<'getPrompt'>) => {
      const { reach } = input.context.principal;
      if (reach?.prompts === undefined) return await handler(input);
      const { id } = await prompts.get(input.path.slugOrId, reach);
      return await handler({ ...input, path: { ...input.path, slugOrId: id } });
    };
  };
  const rows: Readonly<Record<OperationId, OperationRow>> = operationTable;
  return Object.fromEntries(
    Object.entries(handlers).map(([id, handler]) => {
      const isLimited = rows[id as OperationId].path.includes('{slugOrId}') && !planned.has(id as OperationId);
      // All of them have the path of `getPrompt`, some with more parameters.
      return [id, isLimited ? limit(handler as OperationHandler<'getPrompt'>) : handler];
    }),
  ) as unknown as OperationHandlers;
}
