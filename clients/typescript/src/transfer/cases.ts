import { FormatError, isObject, type Source } from './converted.ts';
import { CsvError, readCsv } from './csv.ts';
import { readAssertion, readTest, toCases, type Case, type Refuse, type TestPart } from './promptfoo-tests.ts';

/** YAML, with the places of its members. */
export interface ParsedYaml {
  readonly value: unknown;
  /** The line of a member, from 1, or that of what contains it. */
  readonly lineOf: (path: readonly (string | number)[]) => number;
}

/** Something in a line of a file. */
interface InLine {
  readonly line: number;
}

/** The cases of a file, in their order, and what of it cannot be converted. */
export interface ConvertedCases {
  /** JSON of each case, as the service takes it in a line. */
  readonly cases: readonly (InLine & { readonly text: string })[];
  readonly mistakes: readonly (InLine & { readonly detail: string })[];
}

export interface CaseOptions {
  /** @throws if the text is not YAML */
  readonly parseYaml: (text: string) => ParsedYaml;
}

/** Whether a file is read with `parseYaml`. */
export function isYaml(name: string): boolean {
  return /\.(ya?ml|json)$/i.test(name);
}

/**
 * The cases of a file: JSON Lines of cases or of promptfoo's tests, a table (CSV) with a variable in each column and
 * promptfoo's `__expected`, or a configuration or list of promptfoo's tests in YAML or JSON.
 * @throws {FormatError} for a file of another kind
 */
export function convertCases(source: Source, options: CaseOptions): ConvertedCases {
  const { name, text } = source;
  const cases: (InLine & { text: string })[] = [];
  const mistakes: (InLine & { detail: string })[] = [];
  const ids = new Map<string, number>();
  const collect: Collect = {
    add(line, found) {
      for (const one of found) cases.push({ line, text: JSON.stringify(withOwnId(one, ids)) });
    },
    addText: (line, sent) => cases.push({ line, text: sent }),
    refuse: (line, detail) => mistakes.push({ line, detail }),
  };
  if (/\.(jsonl|ndjson)$/i.test(name)) readLines(text, collect);
  else if (/\.csv$/i.test(name)) readTable(text, collect);
  else if (isYaml(name)) readConfiguration(source, options, collect);
  else throw new FormatError(`${name}: cases are in files that end in .jsonl, .csv, .yaml, .yml or .json.`);
  return { cases, mistakes: mistakes.sort((one, other) => one.line - other.line) };
}

interface Collect {
  add(line: number, cases: readonly Case[]): void;
  /** A case as it was sent. */
  addText(line: number, text: string): void;
  refuse(line: number, detail: string): void;
}

/** A description can be that of several cases. */
function withOwnId(one: Case, ids: Map<string, number>): Case {
  if (one.id === undefined) return one;
  const id = one.id.slice(0, longestId);
  const count = (ids.get(id) ?? 0) + 1;
  ids.set(id, count);
  return { ...one, id: count === 1 ? id : `${id} ${count}` };
}

/** Leaves room for a number. */
const longestId = 120;

function readLines(text: string, { add, addText, refuse }: Collect): void {
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const number = index + 1;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      refuse(number, 'is not JSON');
      continue;
    }
    if (!isObject(value) || !('vars' in value || 'assert' in value)) addText(number, line.trim());
    else {
      const refuseHere: Refuse = (detail) => refuse(number, detail);
      add(number, toCases(readTest(value, refuseHere), refuseHere));
    }
  }
}

function readConfiguration({ name, text }: Source, { parseYaml }: CaseOptions, { add, refuse }: Collect): void {
  let parsed: ParsedYaml;
  try {
    parsed = parseYaml(text);
  } catch {
    throw new FormatError(`${name} is not ${/json$/i.test(name) ? 'JSON' : 'YAML'}.`);
  }
  const { value, lineOf } = parsed;
  const tests = isObject(value) ? value['tests'] : value;
  const path = isObject(value) ? ['tests'] : [];
  const at =
    (...place: (string | number)[]): Refuse =>
    (detail, inner = []) => {
      refuse(lineOf([...place, ...inner]), detail);
    };
  if (typeof tests === 'string') at(...path)(`names another file: push ${tests} by itself`);
  else if (!Array.isArray(tests)) throw new FormatError(`${name} has no list of tests.`);
  if (isObject(value) && value['scenarios'] !== undefined) at('scenarios')('scenarios are not converted');
  const given = isObject(value) ? value['defaultTest'] : undefined;
  const defaults = given === undefined ? undefined : readTest(given, at('defaultTest'));
  for (const [index, test] of (Array.isArray(tests) ? tests : []).entries()) {
    const place = [...path, index];
    add(lineOf(place), toCases(readTest(test, at(...place)), at(...place), defaults));
  }
}

function readTable(text: string, { add, refuse }: Collect): void {
  let rows: ReturnType<typeof readCsv>;
  try {
    rows = readCsv(text);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    refuse(error.line, error.message);
    return;
  }
  const [head, ...body] = rows;
  if (head === undefined) return;
  const columns = head.cells.map((name) => columnOf(name, (detail) => refuse(head.line, detail)));
  for (const name of new Set(head.cells.filter((cell, index) => head.cells.indexOf(cell) !== index)))
    refuse(head.line, `has the column ${JSON.stringify(name)} more than once`);
  for (const { line, cells } of body) {
    if (cells.length !== columns.length) {
      refuse(line, `has ${cells.length} cells, the first line has ${columns.length}`);
      continue;
    }
    const refuseHere: Refuse = (detail) => refuse(line, detail);
    add(line, toCases(readRow(columns, cells, refuseHere), refuseHere));
  }
}

/** What the cells of a column are. */
type Column =
  | { readonly is: 'variable' | 'metadata' | 'list' | 'expected' | 'threshold' | 'refused'; readonly name: string }
  | { readonly is: 'description' | 'metric' | 'nothing' };

function columnOf(name: string, refuse: Refuse): Column {
  if (!name.startsWith('__')) return { is: 'variable', name };
  if (/^__expected\d*$/.test(name)) return { is: 'expected', name };
  if (name === '__description' || name === '__metric') return { is: name === '__metric' ? 'metric' : 'description' };
  const [, list] = /^__metadata:(.+)\[\]$/.exec(name) ?? [];
  if (list !== undefined) return { is: 'list', name: list };
  const [, metadata] = /^__metadata:(.+)$/.exec(name) ?? [];
  if (metadata !== undefined) return { is: 'metadata', name: metadata };
  const [, of] = /^__config:(__expected\d*):threshold$/.exec(name) ?? [];
  if (of !== undefined) return { is: 'threshold', name: of };
  if (ifFilled.includes(name)) return { is: 'refused', name };
  refuse(`the column ${name} is not converted`);
  return { is: 'nothing' };
}

/** Columns of promptfoo that say nothing while they are empty. */
const ifFilled: readonly string[] = ['__prefix', '__suffix', '__threshold', '__providerOutput'];

function readRow(columns: readonly Column[], cells: readonly string[], refuse: Refuse): TestPart {
  const vars: Record<string, unknown> = {};
  const metadata: Record<string, unknown> = {};
  const asserts = new Map<string, Record<string, unknown>>();
  let [description, metric] = ['', ''];
  const thresholds: [string, string][] = [];
  for (const [index, column] of columns.entries()) {
    const cell = cells[index] ?? '';
    if (column.is === 'variable') vars[column.name] = cell;
    else if (cell === '') continue;
    else if (column.is === 'expected') asserts.set(column.name, { ...readAssertion(cell) });
    else if (column.is === 'threshold') thresholds.push([column.name, cell]);
    else if (column.is === 'metadata') metadata[column.name] = cell;
    else if (column.is === 'list') metadata[column.name] = listIn(cell);
    else if (column.is === 'description') description = cell;
    else if (column.is === 'metric') metric = cell;
    else if (column.is === 'refused') refuse(`${column.name} is not converted`);
  }
  for (const [of, cell] of thresholds) {
    const named = of === '__expected' ? [...asserts.values()] : [asserts.get(of)].filter((one) => one !== undefined);
    for (const assert of named) assert['threshold'] = Number(cell);
  }
  const assert = [...asserts.values()].map((one) => ({ ...one, ...(metric !== '' && { metric }) }));
  return readTest({ vars, assert, metadata, ...(description !== '' && { description }) }, refuse);
}

/** Words between commas; `\,` is a comma in a word. */
function listIn(cell: string): string[] {
  return cell.split(/(?<!\\),/).map((word) => word.replaceAll('\\,', ',').trim());
}
