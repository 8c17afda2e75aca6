import type { ParsedYaml } from '../transfer/cases.ts';
import { FileError } from './prompt-files.ts';

/**
 * The parser of YAML. It is no dependency of the package, because only some formats need it.
 * @throws {FileError}
 */
export async function loadYaml(): Promise<(text: string) => ParsedYaml> {
  const { isNode, LineCounter, parseDocument } = await import('yaml').catch(() => {
    throw new FileError('This format needs the package yaml: npm install yaml');
  });
  return (text) => {
    const lines = new LineCounter();
    const document = parseDocument(text, { lineCounter: lines, merge: true });
    const [mistake] = document.errors;
    if (mistake !== undefined) throw mistake;
    const lineOf = (path: readonly (string | number)[]): number => {
      const found = document.getIn(path, true);
      const start = isNode(found) ? found.range?.[0] : undefined;
      if (start !== undefined) return lines.linePos(start).line;
      return path.length === 0 ? 1 : lineOf(path.slice(0, -1));
    };
    return { value: document.toJS() as unknown, lineOf };
  };
}
