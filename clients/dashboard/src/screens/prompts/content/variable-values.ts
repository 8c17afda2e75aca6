import type { TemplateVariable } from 'prompt-gateway-client/template';
import { objectMistake, objectOf, type JsonMistake, type JsonValue } from './exact-json.ts';

/** Values for the variables of a prompt, as they are typed. */
export interface VariableValues {
  /** What the form shows. A value that is no string was typed as JSON. */
  readonly values: { readonly [name: string]: JsonValue };
  /** The text of the JSON view while it is open. It can be wrong; `values` are then the last right ones. */
  readonly json: string | undefined;
}

export const noValues: VariableValues = { values: {}, json: undefined };

/** Sets the text of one variable in the form. An empty text means that the variable is not supplied. */
export function withValue({ values }: VariableValues, name: string, text: string): VariableValues {
  // A map keeps the order; `fromEntries` makes own members, also of `__proto__`.
  const next = new Map(Object.entries(values));
  if (text === '') next.delete(name);
  else next.set(name, text);
  return { values: Object.fromEntries(next), json: undefined };
}

/** Opens the JSON view on the current values, or takes what was typed there. */
export function withJson(current: VariableValues, text: string): VariableValues {
  return { values: objectOf(text.trim() === '' ? '{}' : text) ?? current.values, json: text };
}

/** Whether the text of the JSON view is an object, or why not. */
export function jsonMistake({ json }: VariableValues): JsonMistake | undefined {
  return json === undefined || json.trim() === '' ? undefined : objectMistake(json);
}

/** The value of a variable by its own name only; `undefined` if there is none. */
export function valueOf({ values }: VariableValues, name: string): JsonValue | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** Names without a value that a rendering needs. */
export function missingOf(variables: readonly TemplateVariable[], current: VariableValues): string[] {
  return variables.flatMap(({ name, required }) => {
    const value = valueOf(current, name);
    return required && (value === undefined || value === null) ? [name] : [];
  });
}

/** The variables of several contents by name. One is required if it is in one of them. */
export function allVariables(each: readonly (readonly TemplateVariable[])[]): ReadonlyMap<string, TemplateVariable> {
  const some = each.flat();
  const required = some.filter((variable) => variable.required);
  return new Map([...some, ...required].map((variable) => [variable.name, variable]));
}
