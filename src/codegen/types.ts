import openapiTs, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { isOnlyNull, type Schema } from './contract-document.ts';

/** Renders the types of an OpenAPI document. */
export async function renderTypes(document: object): Promise<string> {
  const nothing = ts.factory.createLiteralTypeNode(ts.factory.createNull());
  const transform = (schema: object, { path }: { path?: string }): ts.TypeNode | undefined => {
    if (path === '#/components/schemas/OtherValue') return ts.factory.createTypeReferenceNode('Other');
    return isOnlyNull(schema as Schema) ? nothing : undefined;
  };
  // A copy, because openapi-typescript changes the document.
  return astToString(await openapiTs(structuredClone(document) as never, { alphabetize: false, transform }));
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
