import openapiTs, { astToString } from 'openapi-typescript';
import ts from 'typescript';

/** Renders the types of an OpenAPI document for the service itself. */
export async function renderTypes(document: object): Promise<string> {
  // It changes the document that it is given.
  const copy = structuredClone(document);
  return astToString(await openapiTs(copy as never, { alphabetize: false, transform: closeValueLists }));
}

/** The service itself answers with known values only: for its handlers there is no `OtherValue`. */
function closeValueLists(_schema: object, { path }: { path?: string }): ts.TypeNode | undefined {
  if (path !== '#/components/schemas/OtherValue') return undefined;
  return ts.factory.createKeywordTypeNode(ts.SyntaxKind.NeverKeyword);
}
