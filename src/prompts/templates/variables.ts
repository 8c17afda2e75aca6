import { templatesOf, type Message, type VariableDefinitions } from './render.ts';

/** A variable of a prompt. */
export interface TemplateVariable {
  readonly name: string;
  /** Whether rendering fails without a value. */
  readonly required: boolean;
  readonly default?: string | undefined;
  readonly description?: string | undefined;
}

/**
 * Lists the variables of a prompt: first the declared ones, then those that only occur in placeholders. An undeclared
 * variable is required if at least one of its placeholders has no default.
 */
export function listVariables(content: {
  readonly messages: readonly Pick<Message, 'content'>[];
  readonly variables?: VariableDefinitions | undefined;
}): TemplateVariable[] {
  const declared = Object.entries(content.variables ?? {});
  const variables = new Map<string, TemplateVariable>(
    declared.map(([name, definition]) => [name, { name, ...definition, required: definition.required === true }]),
  );
  const undeclared = new Map<string, TemplateVariable>();
  for (const part of templatesOf(content.messages).flat()) {
    if (typeof part === 'string' || variables.has(part.name)) continue;
    const { name, inlineDefault } = part;
    const known = undeclared.get(name);
    undeclared.set(name, {
      name,
      required: inlineDefault === undefined || known?.required === true,
      default: known?.default ?? inlineDefault,
    });
  }
  return [...variables.values(), ...undeclared.values()];
}
