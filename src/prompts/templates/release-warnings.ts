import type { Content, VariableDefinitions } from './render.ts';
import { pointerStep, schemaChanges, type SchemaChange } from './schema-changes.ts';
import { listVariables } from './variables.ts';

/** A difference between two versions of a prompt that can break its callers. */
export interface ReleaseWarning {
  readonly code:
    | 'variable-required'
    | 'variable-removed'
    | 'variables-strict'
    | 'tool-added'
    | 'tool-removed'
    | 'tool-narrowed'
    | 'tool-widened'
    | 'answer-format-changed'
    | 'answer-weakened'
    | 'schema-changed';
  /** What differs at this place. */
  readonly detail: string;
  /**
   * JSON Pointer into the newer content as a URI fragment (RFC 6901, section 6); for what is gone, into the older one.
   * Behind a `$ref` it continues in the schema that this names.
   */
  readonly pointer: string;
}

/** What callers of a prompt rely on. */
export interface PromptContract {
  readonly messages: readonly { readonly content: Content }[];
  readonly variables?: VariableDefinitions | undefined;
  readonly strict?: boolean | undefined;
  readonly tools?: readonly Tool[] | null | undefined;
  readonly response_format?: { readonly type: string; readonly schema?: object | undefined } | null | undefined;
}

interface Tool {
  readonly name: string;
  readonly parameters: object;
}

/** The most warnings about one move. They are stored with it, in the document of the prompt. */
const maxWarnings = 20;
/** The most characters of a pointer. A longer one is cut to the next place around it that is short enough. */
const maxPointer = 256;

/**
 * Compares two versions of a prompt as an API is compared: what callers send (variables), what they run (tools), and
 * what they get (the format of the answer). At most 20 differences.
 */
export function releaseWarnings(before: PromptContract, after: PromptContract): ReleaseWarning[] {
  return [...variableChanges(before, after), ...toolChanges(before, after), ...answerChanges(before, after)]
    .slice(0, maxWarnings)
    .map(({ code, detail, pointer }) => ({ code, detail, pointer: shortened(pointer) }));
}

function* variableChanges(before: PromptContract, after: PromptContract): Generator<ReleaseWarning> {
  const was = new Map(listVariables(before).map(({ name, required }) => [name, required]));
  const isStrict = after.strict === true;
  for (const { name, required } of listVariables(after)) {
    const wasRequired = was.get(name);
    was.delete(name);
    if (!required || wasRequired === true) continue;
    const detail = wasRequired === undefined ? 'is new and required' : 'is required now';
    yield { code: 'variable-required', detail, pointer: `#/variables${pointerStep(name)}` };
  }
  for (const name of was.keys()) {
    const detail = `is gone; a value for it is ${isStrict ? 'refused' : 'ignored'}`;
    yield { code: 'variable-removed', detail, pointer: `#/variables${pointerStep(name)}` };
  }
  if (isStrict && before.strict !== true) {
    yield { code: 'variables-strict', detail: 'is true now; unknown variables are refused', pointer: '#/strict' };
  }
}

function* toolChanges({ tools: before }: PromptContract, { tools: after }: PromptContract): Generator<ReleaseWarning> {
  const was = new Map((before ?? []).map((tool, index) => [tool.name, { tool, index }]));
  for (const [index, { name, parameters }] of (after ?? []).entries()) {
    const pointer = `#/tools/${index}`;
    const earlier = was.get(name)?.tool;
    was.delete(name);
    if (earlier === undefined) {
      yield { code: 'tool-added', detail: `the tool "${name}" is new; callers have to run it`, pointer };
      continue;
    }
    for (const change of schemaChanges(earlier.parameters, parameters, `${pointer}/parameters`)) {
      const code = change.effect === 'wider' ? 'tool-widened' : 'tool-narrowed';
      yield { ...warningOf(change, code), detail: `of the tool "${name}": ${change.detail}` };
    }
  }
  for (const [name, { index }] of was) {
    yield { code: 'tool-removed', detail: `the tool "${name}" is gone`, pointer: `#/tools/${index}` };
  }
}

function* answerChanges(before: PromptContract, after: PromptContract): Generator<ReleaseWarning> {
  const text = { type: 'text', schema: undefined };
  const [was, is] = [before.response_format ?? text, after.response_format ?? text];
  if (was.type !== is.type) {
    const detail = `the answer is ${is.type} now; it was ${was.type}`;
    yield { code: 'answer-format-changed', detail, pointer: '#/response_format' };
  } else if (was.schema !== undefined && is.schema === undefined) {
    const detail = 'is gone; the answer can be any JSON';
    yield { code: 'answer-weakened', detail, pointer: '#/response_format/schema' };
  } else {
    for (const change of schemaChanges(was.schema ?? true, is.schema ?? true, '#/response_format/schema')) {
      if (change.effect !== 'narrower') yield warningOf(change, 'answer-weakened');
    }
  }
}

function warningOf({ effect, detail, pointer }: SchemaChange, code: ReleaseWarning['code']): ReleaseWarning {
  return { code: effect === 'unknown' ? 'schema-changed' : code, detail, pointer };
}

function shortened(pointer: string): string {
  return pointer.length <= maxPointer ? pointer : pointer.slice(0, pointer.lastIndexOf('/', maxPointer));
}
