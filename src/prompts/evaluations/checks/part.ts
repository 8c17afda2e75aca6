import { fromStep } from '../../../base/runtime/json-pointer.ts';
import { defined } from '../../../base/runtime/objects.ts';
import { compactJson, type JsonValue } from '../../templates/compact-json.ts';
import { threadFinding, type CheckRuntime, type Finding, type Part } from './check-type.ts';

/** The whole answer. Its JSON is read once, when a check first needs it. */
export function wholeAnswer(text: string, { check }: Pick<CheckRuntime, 'check'>): Part {
  const name = 'The answer';
  const read = async (): ReturnType<Part['json']> => {
    // The thread refuses JSON that would be slow here.
    const result = await check({ text });
    if (result.status === 'valid') return { value: JSON.parse(result.object.json.text) as JsonValue };
    return threadFinding({ name }, result, '');
  };
  let reading: ReturnType<Part['json']> | undefined;
  return { name, text, jsonText: text, json: () => (reading ??= read()) };
}

/** The part of an answer at a JSON pointer (RFC 6901), or why there is none. */
export async function partAt(answer: Part, pointer: string): Promise<Part | Finding> {
  const whole = await answer.json();
  if (!('value' in whole)) return defined({ reason: whole.reason, isUndecided: whole.isUndecided });
  let value: JsonValue | undefined = whole.value;
  for (const step of pointer.split('/').slice(1)) value = memberOf(value, fromStep(step));
  if (value === undefined) return { reason: `The answer has no ${pointer}.` };
  const found = value;
  return {
    name: pointer === '' ? answer.name : `${pointer} of the answer`,
    text: typeof found === 'string' ? found : compactJson(found),
    jsonText: compactJson(found),
    json: () => Promise.resolve({ value: found }),
  };
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  if (Array.isArray(value) && !/^\d+$/.test(name)) return undefined;
  return (value as Readonly<Record<string, JsonValue>>)[name];
}
