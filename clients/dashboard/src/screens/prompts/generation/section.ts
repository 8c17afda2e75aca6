import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import type { Texts } from '../../../texts/en.ts';
import type { JsonMistake } from '../content/exact-json.ts';

/** The members of a prompt's content that say how answers are generated. */
export type Generation = Omit<
  Schemas['PromptVersion'],
  | 'version'
  | 'messages'
  | 'variables'
  | 'strict'
  | 'selected_provider'
  | 'selected_model'
  | 'created_at'
  | 'author'
  | 'note'
  | 'current'
>;

/** Texts that all sections use. */
export type GenerationWords = Texts['prompts']['generation'];

/** What is wrong at one field. */
export type GenerationMistake = JsonMistake | 'name' | 'taken' | 'provider';

/** What the service would refuse, by place: for an entry of a list, its key with the name of the field. */
export type GenerationMistakes = ReadonlyMap<string, GenerationMistake>;

export interface FieldsProps<Value> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly mistakes: GenerationMistakes;
  /** Whether mistakes of empty fields are shown. */
  readonly isChecked: boolean;
  readonly isReadOnly: boolean;
  readonly providers: readonly Schemas['Provider'][];
  /** The provider that the prompt selects; empty: none. */
  readonly provider: string;
}

/**
 * A section of the form: some members of a prompt, as they are edited, shown, compared and sent. What is needed of a
 * member stands here.
 */
export interface Section<Value, Own extends { readonly title: string }> {
  readonly texts: Readonly<Record<GenerationWords['language'], Own>>;
  /** Its members, with the values that clear them. */
  readonly cleared: Partial<Record<keyof Generation, null | 0>>;
  /** What is edited of a content. */
  readonly read: (content: Generation) => Value;
  /** The members as the contract has them; without what is the default. JSON that is wrong counts as `{}`. */
  readonly write: (value: Value) => Generation;
  readonly mistakes: (value: Value) => GenerationMistakes;
  /** What is set, in few words: `temperature 0.2`, `2 tools`. */
  readonly summary: (value: Value, own: Own, words: GenerationWords) => string[];
  /** Headings with lines, so that a difference of two texts shows what changed. Without lines there is no heading. */
  readonly describe: (value: Value, own: Own, words: GenerationWords) => Description[];
  readonly Fields: (props: FieldsProps<Value>) => ReactNode;
}

export type Description = readonly [heading: string, lines: readonly (string | undefined)[]];

/** A section whose value only it knows. */
export type AnySection = Section<unknown, { readonly title: string }>;

/** Declares a section. */
export function section<Value, Own extends { readonly title: string }>(declared: Section<Value, Own>): AnySection {
  // Values and texts come only from the section itself.
  return declared as unknown as AnySection;
}

/** A line with a name before it; undefined without a value. */
export function line(name: string, value: string | undefined): string | undefined {
  return value === undefined ? undefined : `${name}: ${value}`;
}

/** Yes or no; undefined if it is not set. */
export function yesOrNo(value: boolean | undefined, { yes, no }: GenerationWords): string | undefined {
  return value === undefined ? undefined : value ? yes : no;
}

/** JSON for people. */
export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** Collects mistakes by their place. */
export function mistakesFrom(
  found: readonly (readonly [place: string, mistake: GenerationMistake | false | undefined])[],
): GenerationMistakes {
  return new Map(found.flatMap(([place, mistake]) => (mistake ? [[place, mistake] as const] : [])));
}
