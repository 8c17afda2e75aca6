import { isDeepStrictEqual } from 'node:util';
import type { Message, VariableDefinition } from '../templates/render.ts';

/** What a version keeps: everything that decides what an invocation sends, and where to. */
export interface PromptContent {
  readonly messages: readonly Message[];
  /** By name; an own property each, whatever the name (`__proto__` is one). */
  readonly variables: Readonly<Record<string, VariableDefinition>> | undefined;
  /** Whether unknown variables are refused; never `false`. */
  readonly strict: true | undefined;
  readonly selectedProvider: string | undefined;
  readonly selectedModel: string | undefined;
}

/**
 * Are two contents the same, whatever the order in which their variables are listed? Such a change makes no version.
 * No variables are the same as an empty list of them.
 */
export function sameContent(one: PromptContent, other: PromptContent): boolean {
  const comparable = (content: PromptContent): PromptContent => ({ ...content, variables: content.variables ?? {} });
  return isDeepStrictEqual(comparable(one), comparable(other));
}

/** Copies messages member by member, so that nothing else gets into comparison, storage or answers. */
export function toMessages(messages: readonly Message[]): Message[] {
  return messages.map(({ role, content }) => ({ role, content }));
}

/** Copies variable definitions member by member; what is not set is absent. */
export function toVariables(
  definitions: Iterable<readonly [string, VariableDefinition]>,
): Record<string, VariableDefinition> {
  // `fromEntries` defines properties; an assignment to `__proto__` would change the prototype instead.
  return Object.fromEntries(Array.from(definitions, ([name, definition]) => [name, toDefinition(definition)]));
}

function toDefinition({ default: value, description, required }: VariableDefinition): VariableDefinition {
  return {
    ...(value === undefined ? {} : { default: value }),
    ...(description === undefined ? {} : { description }),
    ...(required === undefined ? {} : { required }),
  };
}
