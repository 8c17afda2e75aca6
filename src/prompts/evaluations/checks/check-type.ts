import type { components } from '../../../../generated/types.ts';
import type { CheckJob, CheckResult as ThreadResult } from '../../../base/json-schema/answer-checker.ts';
import { inWords } from '../../../base/json-schema/mistake-words.ts';
import type { Turns } from '../../../base/runtime/turns.ts';
import type { FinishReason, Tool, ToolCall } from '../../../models/language-model.ts';
import { compactJson, type JsonValue } from '../../templates/compact-json.ts';
import type { CheckedCase } from './render-value.ts';

/** What a check can see of an answer. */
export interface CheckedAnswer {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly toolCalls: readonly Pick<ToolCall, 'name' | 'arguments'>[];
  /** Those that the model could call. */
  readonly tools: readonly Pick<Tool, 'name' | 'parameters'>[];
  /** In US dollars; undefined if it is unknown. */
  readonly cost: number | undefined;
  readonly latencyMs: number;
}

/** What a judge says. */
export type Judgement = { readonly pass: boolean; readonly score?: number; readonly reason?: string };

/** Asks a stored prompt about an answer. @returns undefined if it says nothing, also after repetitions */
export type AskJudge = (
  judge: components['schemas']['Judge'],
  variables: Readonly<Record<'input' | 'output' | 'expected' | 'rubric', string>>,
) => Promise<Judgement | undefined>;

/** Where checks run that take long. */
export interface CheckRuntime {
  /** Runs regular expressions and schemas, and reads JSON, in a thread. */
  readonly check: (job: CheckJob) => Promise<ThreadResult>;
  readonly turns: Turns;
  readonly askJudge: AskJudge;
}

/** What a check found. */
export interface Finding {
  /** Whether its type holds. If it is left out, the check fails, also with `not-`. */
  readonly holds?: boolean;
  /** A sentence, true with and without `not-`. */
  readonly reason: string;
  /** It could not be found out in time. */
  readonly isUndecided?: true;
  /** A judge said it. */
  readonly judged?: true;
}

/** What a check looks at: an answer, or the part of its JSON at a pointer. */
export interface Part {
  /** As sentences begin. */
  readonly name: string;
  /** A string itself; of other JSON, its text. */
  readonly text: string;
  /** The text to read as JSON. */
  readonly jsonText: string;
  /** @returns its value as JSON, or why it has none */
  json(): Promise<{ readonly value: JsonValue } | Finding>;
}

/** What a type of checks gets. */
export interface CheckInput {
  /** What is checked of the answer. */
  readonly part: Part;
  readonly answer: CheckedAnswer;
  /** Rendered. */
  readonly value: unknown;
  readonly threshold: number | undefined;
  readonly judge: components['schemas']['Judge'] | undefined;
  readonly of: CheckedCase;
  readonly runtime: CheckRuntime;
}

/** A type of checks, without `not-`. */
export interface CheckType {
  /** What its value has to be (`value`: anything), or that it takes a threshold or nothing instead. */
  readonly takes: 'value' | 'text' | 'texts' | 'pattern' | 'schema' | 'threshold' | 'rubric' | 'nothing';
  find(input: CheckInput): Finding | Promise<Finding>;
}

/** A finding of a type that says the same of a part in two ways. */
export function finding({ name }: Pick<Part, 'name'>, holds: boolean, yes: string, no: string): Finding {
  return { holds, reason: `${name} ${holds ? yes : no}.` };
}

/** What a thread has found out. @param yes what holds if it is valid */
export function threadFinding({ name }: Pick<Part, 'name'>, result: ThreadResult, yes: string): Finding {
  switch (result.status) {
    case 'valid':
      return { holds: true, reason: `${name} ${yes}.` };
    case 'invalid': {
      const reason = `${name} ${inWords(result.mistake)}.`;
      // What is not read to its end could be anything.
      return result.mistake.type === 'too-deep' ? { reason } : { holds: false, reason };
    }
    case 'unverified':
      return { reason: `${name} could not be checked in time.`, isUndecided: true };
  }
}

/** A value of a check as text. Empty if there is none. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : compactJson(value as JsonValue);
}

/** Every text contains an empty one, so that it says nothing about an answer. */
export const noValue: Finding = { reason: 'The value of the check is empty.' };

const longest = 200;

/** A text in a sentence. */
export function shown(text: string): string {
  return JSON.stringify(text.length > longest ? `${text.slice(0, longest)}…` : text);
}
