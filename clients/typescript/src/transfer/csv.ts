/** A row of a table, and the line of the file in which it begins. */
export interface Row {
  readonly line: number;
  readonly cells: readonly string[];
}

/** The text is not a table, because of this line. */
export class CsvError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/**
 * Reads CSV (RFC 4180). Spaces around cells are left out, as promptfoo does. An empty line is no row.
 * @throws {CsvError}
 */
export function readCsv(text: string): Row[] {
  const plain = /([^,\r\n]*)(,|\r?\n|\r|$)/y;
  const quoted = /[ \t]*"([^"]*(?:""[^"]*)*)"[ \t]*(,|\r?\n|\r|$)/y;
  const rows: Row[] = [];
  let cells: string[] = [];
  let [line, start] = [1, 1];
  // A byte order mark is no part of the first cell.
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  for (;;) {
    const isQuoted = /^[ \t]*"/.test(text.slice(at, at + longestIndent));
    const form = isQuoted ? quoted : plain;
    form.lastIndex = at;
    const [whole, content = '', end] = form.exec(text) ?? [];
    if (whole === undefined) throw new CsvError(start, 'has a quote that is not closed, or text after a closing quote');
    cells.push(isQuoted ? content.replaceAll('""', '"') : content.trim());
    at += whole.length;
    line += whole.match(/\r?\n|\r/g)?.length ?? 0;
    if (end === ',') continue;
    if (cells.length > 1 || cells[0] !== '') rows.push({ line: start, cells });
    if (at >= text.length) return rows;
    cells = [];
    start = line;
  }
}

/** Characters before an opening quote that are looked at. */
const longestIndent = 100;
