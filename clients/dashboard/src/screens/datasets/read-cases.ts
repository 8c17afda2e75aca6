import {
  convertCases,
  FormatError,
  isYaml,
  yamlParser,
  type ConvertedCases,
  type Source,
} from 'prompt-gateway-client/transfer';
import type { ShownCase } from './case-table.tsx';

/** What a file has: its cases, and what of it cannot be converted. */
export interface ReadCases extends ConvertedCases {
  readonly name: string;
  /** To be shown, in the order of `cases`. */
  readonly shown: readonly (ShownCase & { readonly position: number })[];
  /** Why the file has no cases at all. */
  readonly refusal?: string;
}

/** Converts a file, or a text with the name that one in this format would have. */
export async function readCases(source: Source): Promise<ReadCases> {
  const parseYaml = isYaml(source.name) ? yamlParser(await import('yaml')) : notYaml;
  try {
    const converted = convertCases(source, { parseYaml });
    const shown = converted.cases.map(({ line, text }, position) => ({
      ...(JSON.parse(text) as ShownCase),
      line,
      position,
    }));
    return { ...converted, name: source.name, shown };
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return { name: source.name, cases: [], mistakes: [], shown: [], refusal: error.message };
  }
}

function notYaml(): never {
  throw new Error('only files of YAML and JSON are parsed by it');
}

/** The lines that the service takes. */
export function linesOf({ cases }: ReadCases): string {
  return cases.map(({ text }) => `${text}\n`).join('');
}
