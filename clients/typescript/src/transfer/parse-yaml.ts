import { isObject } from './converted.ts';
import type { ParsedYaml } from './cases.ts';

/** What is used of the package `yaml`. It is no dependency, because only some formats need it. */
export interface YamlPackage<Lines extends { linePos(offset: number): { readonly line: number } }> {
  readonly LineCounter: new () => Lines;
  readonly parseDocument: (
    text: string,
    options: { readonly lineCounter: Lines; readonly merge: true },
  ) => {
    readonly errors: readonly Error[];
    getIn(path: readonly (string | number)[], keepScalar: true): unknown;
    toJS(): unknown;
  };
}

/** Makes `parseYaml` of `convertCases`, of the package `yaml`. What it makes throws if a text is not YAML. */
export function yamlParser<Lines extends { linePos(offset: number): { readonly line: number } }>({
  LineCounter,
  parseDocument,
}: YamlPackage<Lines>): (text: string) => ParsedYaml {
  return (text) => {
    const lines = new LineCounter();
    const document = parseDocument(text, { lineCounter: lines, merge: true });
    const [mistake] = document.errors;
    if (mistake !== undefined) throw mistake;
    const lineOf = (path: readonly (string | number)[]): number => {
      const found = document.getIn(path, true);
      const range = isObject(found) ? found['range'] : undefined;
      if (Array.isArray(range)) return lines.linePos(Number(range[0])).line;
      return path.length === 0 ? 1 : lineOf(path.slice(0, -1));
    };
    return { value: document.toJS(), lineOf };
  };
}
