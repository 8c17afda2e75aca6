import openapiTs, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { withListedMembers } from './contract.ts';

/** Renders the types of an OpenAPI document for the service, which answers only with known values. */
export async function renderTypes(document: object): Promise<string> {
  return await render(document, ts.factory.createKeywordTypeNode(ts.SyntaxKind.NeverKeyword));
}

/** Renders the types of an OpenAPI document for callers. Value lists of answers can have values of later releases. */
export async function renderClientTypes(document: object): Promise<string> {
  const { createIntersectionTypeNode, createKeywordTypeNode, createTypeLiteralNode } = ts.factory;
  // `string & {}` keeps the known values separate from the others, so that editors suggest them.
  const anyOther = [createKeywordTypeNode(ts.SyntaxKind.StringKeyword), createTypeLiteralNode([])];
  return await render(document, createIntersectionTypeNode(anyOther));
}

/** @param otherValue the type of the component `OtherValue`, which ends each open value list */
async function render(document: object, otherValue: ts.TypeNode): Promise<string> {
  // A copy, because openapi-typescript changes the document.
  const copy = JSON.parse(JSON.stringify(document), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && 'patternProperties' in value
      ? withListedMembers({ ...value })
      : value,
  ) as object;
  const transform = (_schema: object, { path }: { path?: string }): ts.TypeNode | undefined =>
    path === '#/components/schemas/OtherValue' ? otherValue : undefined;
  return astToString(await openapiTs(copy as never, { alphabetize: false, transform }));
}
