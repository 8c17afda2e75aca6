import { operationTable, type OperationId, type OperationRow } from '../../generated/operations.ts';

const routes = (Object.entries(operationTable) as [OperationId, OperationRow][]).map(([operationId, row]) => ({
  operationId,
  method: row.method,
  path: new RegExp(`^${row.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, partOf(row.path))}$`),
}));

/** As in OpenAI's API, names of models can have slashes as they are there. */
function partOf(path: string): string {
  return path.startsWith('/v1/models/') ? '[^/]+(?:/[^/]+)*' : '[^/]+';
}

/** The operation of a request, by the paths of the contract. HEAD belongs to the operation of GET. */
export function findOperation(method: string, url: string): OperationId | undefined {
  const path = url.split('?', 1)[0] ?? '';
  const wanted = method === 'HEAD' ? 'GET' : method;
  // A path without parameters takes precedence, whatever its methods are.
  const exact = routes.filter(({ operationId }) => operationTable[operationId].path === path);
  const candidates = exact.length > 0 ? exact : routes;
  return candidates.find((route) => route.method === wanted && route.path.test(path))?.operationId;
}
