/** Operations that another one performs for its caller. */
import type { ServerResponse } from 'node:http';
import type { OperationId, OperationRow, Scope } from '../../generated/operations.ts';
import { insufficientScope } from '../base/errors/insufficient-scope.ts';
import { readOnly } from '../base/errors/read-only.ts';
import { serialise, type HandlerResult } from './answer.ts';
import { discardStream } from './answer-stream.ts';
import type { ListQueue } from './list-queue.ts';
import type { AuthenticatedPrincipal, OperationRoute, PerformedInput, RequestContext } from './operation.ts';
import { invalidParameters, type ParsedParameters } from './parameters.ts';
import type { RawAnswer } from './problem-response.ts';
import { refusedBody, refusedParameters } from './refuse.ts';

/** The request that performs it. */
export interface Performer {
  readonly principal: AuthenticatedPrincipal;
  readonly response: ServerResponse;
  /** Aborted when the caller closes the connection. */
  readonly gone: () => AbortSignal;
  readonly lists: ListQueue;
  readonly isReadOnly: boolean;
  /** The context of the request, as that of another operation. @param path of the operation, as it would be requested */
  readonly contextOf: (operationId: OperationId, path: string) => RequestContext;
}

export async function perform(
  route: OperationRoute,
  { path = {}, query = {}, headers = {}, body }: PerformedInput,
  { principal, response, gone, lists, isReadOnly, contextOf }: Performer,
): Promise<RawAnswer> {
  const { row, operationId } = route;
  if (row.scope !== null && !principal.scopes.has(row.scope as Scope)) {
    throw insufficientScope(row.scope, principal.kind);
  }
  if (isReadOnly && row.problems.includes('read-only')) throw readOnly();
  const parameters: ParsedParameters = {
    path: { ...path },
    query: { ...query },
    headers: { ...headers },
    mistakes: [],
  };
  const unknown = Object.keys(query).filter((name) => !row.parameters.some((known) => known.name === name));
  if (unknown.length > 0) {
    throw invalidParameters(unknown.map((parameter) => ({ detail: 'is unknown', parameter: parameter.slice(0, 200) })));
  }
  const { mistakes: _, ...read } = parameters;
  if (!route.parameters(parameters)) throw await refusedParameters(route, parameters);
  const isRefused = body === undefined ? row.body === 'required' : route.body?.(body) === false;
  if (isRefused) throw await refusedBody(route, body, undefined);
  const target = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));
  const context = contextOf(operationId, target);
  const handle = async (): Promise<RawAnswer> => {
    // The validators have checked that the values match the types.
    const result: HandlerResult = await route.handler({ ...read, body, context } as never);
    if (result.stream === undefined) return serialise(row, result);
    discardStream(result.stream);
    throw new Error(`${operationId} cannot be performed: it answers with a stream.`);
  };
  if (!isList(row)) return await handle();
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const call = { principal, target: `${target}?${search.toString()}`, response, signal: gone() };
  return await lists.run(call, handle);
}

/** Whether the answer of a list has a bounded length, so that it is made as a whole, for all who ask for the same. */
export function isShared(row: OperationRow, { limit }: { readonly limit?: unknown }): boolean {
  return row.isWholeWithoutLimit !== true || limit !== undefined;
}

/** Whether an operation lists, so that it waits for its turn. */
export function isList({ method, parameters }: OperationRow): boolean {
  return method === 'GET' && parameters.some((parameter) => parameter.in === 'query' && parameter.name === 'limit');
}
