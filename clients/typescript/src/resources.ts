import { call, listCall, type Answer, type Page } from './call.ts';
import type { AnyCallOptions } from './call-options.ts';
import { operationTable, type OperationName, type OperationRow } from './generated/operations.ts';
import type { Resources } from './generated/resources.ts';
import { invocationStream } from './invocation-stream.ts';
import type { Open, Send } from './send.ts';

/** Creates the resources with their methods from the table of operations. */
export function makeResources(calls: { send: Send; open: Open }): Resources {
  const resources = Object.entries(operationTable).map(([resource, methods]) => [
    resource,
    Object.fromEntries(
      Object.entries(methods).map(([name, row]) => [
        name,
        makeMethod(`${resource}.${name}` as OperationName, row, calls),
      ]),
    ),
  ]);
  return Object.fromEntries(resources) as Resources;
}

/** A method takes the path parameters in their order, then body or query if it has one, then options. */
function makeMethod(
  name: OperationName,
  row: OperationRow,
  { send, open }: { send: Send; open: Open },
): (...args: unknown[]) => unknown {
  const names = Array.from(row.path.matchAll(/\{(\w+)\}/g), ([, parameter = '']) => parameter);
  return (...args) => {
    const path = Object.fromEntries(
      names.map((parameter, index) => [parameter, pathValue(name, parameter, args[index])]),
    );
    const rest = args.slice(names.length);
    const input = row.input === undefined ? undefined : (rest.shift() as object | undefined);
    const options = (rest[0] ?? {}) as AnyCallOptions;
    if (row.page === true) {
      return listCall((after) => {
        // A later page starts where the previous one ended. So it has no offset.
        const { offset, ...query } = { ...input } as { offset?: number };
        const position = after === undefined ? { offset } : { after };
        return send(name, row, { path, query: { ...query, ...position } }, options) as Promise<Answer<Page>>;
      });
    }
    if (row.events === true) {
      const body = { ...input, stream: true };
      return invocationStream((signal) => open(name, row, { path, body }, options, signal));
    }
    return call(send(name, row, { path, ...(row.input !== undefined && { [row.input]: input }) }, options));
  };
}

/** Refuses values that would change the path: `..` would mean the parent path. */
function pathValue(name: OperationName, parameter: string, value: unknown): string {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || /^\.{0,2}$/.test(text)) {
    throw new TypeError(`${name}: ${parameter} must be a string that is not empty, "." or "..".`);
  }
  return text;
}
