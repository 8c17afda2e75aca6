import openapiTs, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { withListedMembers } from './contract.ts';

/** Renders the types of an OpenAPI document. */
export async function renderTypes(document: object): Promise<string> {
  // A copy, because openapi-typescript changes the document.
  const copy = JSON.parse(JSON.stringify(document), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && 'patternProperties' in value
      ? withListedMembers({ ...value })
      : value,
  ) as object;
  const transform = (_schema: object, { path }: { path?: string }): ts.TypeNode | undefined =>
    path === '#/components/schemas/OtherValue' ? ts.factory.createTypeReferenceNode('Other') : undefined;
  return astToString(await openapiTs(copy as never, { alphabetize: false, transform }));
}

/**
 * Renders the types of the contract for callers. A value list of answers can have values of later releases: `Other`,
 * which keeps them separate from the known values, so that editors suggest these.
 */
export async function renderClientTypes(document: object): Promise<string> {
  return (await renderTypes(document))
    .replace(/^export interface (paths|components|operations) \{/gm, 'export interface $1<Other = string & {}> {')
    .replace(/\b(components|operations)\["/g, '$1<Other>["');
}

/** Renders the same types for the service, which answers only with known values. @param file has them for callers */
export function renderServiceTypes(file: string): string {
  return `import type * as callers from '${file}';

export type components = callers.components<never>;
export type operations = callers.operations<never>;
`;
}
