/**
 * Tests of promptfoo as cases. What gives another verdict here is refused by name: a check that is left out in silence
 * would let answers pass that failed there.
 */
import type { components } from '../generated/types.ts';
import { isObject, textIn } from './converted.ts';

export type Case = components['schemas']['DatasetCaseInput'];
type Check = components['schemas']['Check'];
type Members = Readonly<Record<string, unknown>>;
/** A judge here is a stored prompt, which a test of promptfoo does not name. */
type BaseType = Exclude<Check['type'], `not-${string}` | 'llm-rubric'>;
type Value = NonNullable<Check['value']>;

/** Refuses something at a place in a test. */
export type Refuse = (detail: string, path?: readonly (string | number)[]) => void;

/** What a test, or `defaultTest`, says. */
export interface TestPart {
  readonly vars: Members;
  readonly checks: readonly Check[];
  readonly tags: readonly string[];
  readonly name: string | undefined;
  /** Whether lists among the variables are one value each. */
  readonly keepsLists: boolean;
}

/** What the value of each type is here. */
const types: Readonly<Record<BaseType, 'any' | 'text' | 'texts' | 'schema' | 'threshold' | 'nothing'>> = {
  equals: 'any',
  contains: 'text',
  icontains: 'text',
  'contains-all': 'texts',
  'contains-any': 'texts',
  'starts-with': 'text',
  regex: 'text',
  'is-json': 'schema',
  'contains-json': 'schema',
  'finish-reason': 'text',
  'is-valid-openai-tools-call': 'nothing',
  cost: 'threshold',
  latency: 'threshold',
};

/** @param test of a file, or its `defaultTest` */
export function readTest(test: unknown, refuse: Refuse): TestPart {
  if (typeof test === 'string') {
    refuse(`names another file: push ${test} by itself`);
    return nothing;
  }
  if (!isObject(test)) {
    refuse('is not a test');
    return nothing;
  }
  const { vars = {}, assert = [], metadata = {}, description, options = {}, ...others } = test;
  for (const member of Object.keys(others)) refuse(`${member} is not converted`, [member]);
  const { disableVarExpansion, ...otherOptions } = isObject(options) ? options : {};
  for (const member of Object.keys(otherOptions)) refuse(`${member} is not converted`, ['options', member]);
  return {
    vars: isObject(vars) ? readVars(vars, refuse) : refused(refuse, 'vars of another file are not converted', ['vars']),
    checks: Array.isArray(assert)
      ? assert.flatMap((one, index) => toCheck(one, (detail, path = []) => refuse(detail, ['assert', index, ...path])))
      : (refuse('assert is not a list', ['assert']), []),
    tags: isObject(metadata) ? toTags(metadata, refuse) : [],
    name: textIn(description),
    keepsLists: disableVarExpansion === true,
  };
}

const nothing: TestPart = { vars: {}, checks: [], tags: [], name: undefined, keepsLists: false };

/** The contract has the same number. */
const mostCases = 10_000;

/** A test with its defaults. A variable with a list of values stands for a case with each of them. */
export function toCases(test: TestPart, refuse: Refuse, defaults: TestPart = nothing): Case[] {
  const vars = { ...defaults.vars, ...test.vars };
  const checks = [...defaults.checks, ...test.checks];
  const tags = [...new Set([...defaults.tags, ...test.tags])];
  const isExpanded = !test.keepsLists && !defaults.keepsLists;
  const count = isExpanded ? Object.values(vars).reduce<number>((sum, value) => sum * sizeOf(value), 1) : 1;
  if (count === 0) refuse('a variable has an empty list of values', ['vars']);
  if (count > mostCases) refuse(`the lists of its variables make ${count} cases`, ['vars']);
  if (count === 0 || count > mostCases) return [];
  const all = isExpanded ? expanded(vars) : [vars];
  return all.map((variables) => ({
    ...(test.name !== undefined && test.name !== '' && { id: test.name }),
    ...(Object.keys(variables).length > 0 && { variables }),
    ...(checks.length > 0 && { checks }),
    ...(tags.length > 0 && { tags }),
  }));
}

function sizeOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 1;
}

function expanded(vars: Members): Members[] {
  return Object.entries(vars).reduce<Members[]>(
    (all, [name, value]) =>
      (Array.isArray(value) ? (value as unknown[]) : [value]).flatMap((one) =>
        all.map((rest) => ({ ...rest, [name]: one })),
      ),
    [{}],
  );
}

function readVars(vars: Members, refuse: Refuse): Members {
  for (const [name, value] of Object.entries(vars)) {
    for (const text of [value].flat()) {
      if (typeof text !== 'string') continue;
      const place = ['vars', name];
      if (text.startsWith('file://')) refuse(`the value of ${name} is in another file, which is not read`, place);
      else if (/\{\{|\{%/.test(text))
        refuse(`the value of ${name} has a placeholder, which is not filled in here`, place);
    }
  }
  return vars;
}

/** Metadata as words: `tags` themselves, others with their names. */
function toTags(metadata: Members, refuse: Refuse): string[] {
  return Object.entries(metadata).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => {
      const word =
        typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean' ? String(one) : undefined;
      if (word === undefined) refuse(`${name} is neither a word nor a list of words`, ['metadata', name]);
      if (word === undefined || word === '') return [];
      return [name === 'tags' ? word : `${name}=${word}`];
    }),
  );
}

function toCheck(given: unknown, refuse: Refuse): Check[] {
  const { type: name, value, threshold, weight, metric, ...others } = isObject(given) ? given : {};
  const type = textIn(name) ?? '';
  const base = type.replace(/^not-/, '');
  if (!Object.hasOwn(types, base)) {
    refuse(`the service has no check ${JSON.stringify(type)}`);
    return [];
  }
  let isRight = true;
  const wrong: Refuse = (detail, path) => {
    isRight = false;
    refuse(detail, path);
  };
  for (const member of Object.keys(others)) wrong(`${member} of ${type} is not converted`, [member]);
  const takes = types[base as BaseType];
  if (weight === 0) wrong('a check with weight 0 decides nothing: leave it out', ['weight']);
  if (threshold !== undefined && takes !== 'threshold') wrong(`${type} has no threshold`, ['threshold']);
  if (takes === 'threshold' && typeof threshold !== 'number') wrong(`${type} needs a threshold`);
  const converted = value === undefined ? undefined : toValue(value, takes, type, wrong);
  if (!isRight) return [];
  return [
    {
      type: type as Check['type'],
      ...(converted !== undefined && { value: converted }),
      ...(typeof threshold === 'number' && { threshold }),
      ...(typeof weight === 'number' && { weight }),
      ...(typeof metric === 'string' && metric !== '' && { metric }),
    },
  ];
}

function toValue(value: unknown, takes: (typeof types)[BaseType], type: string, refuse: Refuse): Value | undefined {
  const place = ['value'];
  for (const text of [value].flat()) {
    if (typeof text !== 'string') continue;
    if (/^file:\/\//.test(text)) refuse(`the value of ${type} is in another file, which is not read`, place);
    const strange = /\{%.*?%\}|\{#.*?#\}|\{\{(?!\s*[A-Za-z_]\w*\s*\}\}).*?\}\}/s.exec(text)?.[0];
    if (strange !== undefined) refuse(`${strange} is more than the name of a variable`, place);
  }
  switch (takes) {
    case 'any':
      return value as Value;
    case 'text':
      return isScalar(value) ? String(value) : refused(refuse, `${type} needs a text`, place);
    case 'texts':
      if (typeof value === 'string') return value;
      return Array.isArray(value) && value.every(isScalar)
        ? value.map(String)
        : refused(refuse, `${type} needs a list of texts`, place);
    case 'schema':
      return typeof value === 'string' ? schemaIn(value, type, refuse) : (value as Value);
    case 'threshold':
    case 'nothing':
      return refused(refuse, `${type} has no value`, place);
  }
}

function schemaIn(text: string, type: string, refuse: Refuse): Value | undefined {
  try {
    return JSON.parse(text) as Value;
  } catch {
    return refused(refuse, `the schema of ${type} is not JSON`, ['value']);
  }
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function refused<Nothing extends object>(refuse: Refuse, detail: string, path: readonly (string | number)[]): Nothing {
  refuse(detail, path);
  return {} as Nothing;
}

/** An assertion of promptfoo, as the cells of its tables have it: `type(threshold): value`, or what the answer equals. */
export function readAssertion(cell: string): Members {
  const [, not = '', type = '', threshold, value] =
    /^(not-)?([a-z][a-z0-9-]*)(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?$/.exec(cell) ?? [];
  if (cell.startsWith('file://')) return { type: 'file' };
  if (!Object.hasOwn(types, type) && !others.has(type)) return { type: 'equals', value: cell };
  const text = value?.trim();
  const isList = type === 'contains-all' || type === 'contains-any';
  return {
    type: `${not}${type}`,
    ...(text !== undefined && text !== '' && { value: isList ? text.split(',').map((one) => one.trim()) : text }),
    ...(threshold !== undefined && { threshold: Number(threshold) }),
  };
}

/** Types of promptfoo that the service does not have. Any other word before a colon is text there. */
const others: ReadonlySet<string> = new Set([
  ...['answer-relevance', 'bleu', 'classifier', 'contains-html', 'contains-sql', 'contains-xml'],
  ...['context-faithfulness', 'context-recall', 'context-relevance', 'conversation-relevance', 'eval', 'factuality'],
  ...['fn', 'g-eval', 'gleu', 'grade', 'guardrails', 'icontains-all', 'icontains-any', 'is-html', 'is-refusal'],
  ...['is-sql', 'is-valid-function-call', 'is-valid-openai-function-call', 'is-xml', 'javascript', 'levenshtein'],
  ...['llm-rubric', 'max-score', 'meteor', 'model-graded-closedqa', 'model-graded-factuality', 'moderation'],
  ...['perplexity', 'perplexity-score', 'pi', 'python', 'rouge-n', 'ruby', 'search-rubric', 'select-best', 'similar'],
  ...['skill-used', 'tool-call-f1', 'trace-error-spans', 'trace-span-count', 'trace-span-duration', 'webhook'],
  ...['word-count'],
]);
