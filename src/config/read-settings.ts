import type { Setting } from './settings.ts';

/** Environment variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

const longestQuote = 80;

/** The text of a variable without spaces around it; undefined if it is empty. */
export function variableText(environment: Environment, name: string): string | undefined {
  const found = environment[name]?.trim();
  return found === '' ? undefined : found;
}

/**
 * Reads settings by their table.
 *
 * @returns the valid values by name; one sentence for each mistake, with the variable, what was expected, and the text
 *   unless it is a secret
 */
export function readSettings(
  table: Readonly<Record<string, Setting>>,
  environment: Environment,
): { values: Readonly<Record<string, unknown>>; mistakes: string[] } {
  const values: Record<string, unknown> = {};
  const mistakes: string[] = [];
  for (const [name, setting] of Object.entries(table)) {
    const text = variableText(environment, name) ?? setting.default;
    if (text === undefined) continue;
    const result = setting.format.safeParse(text);
    if (result.success) {
      values[name] = result.data;
      continue;
    }
    for (const { path, message } of result.error.issues) {
      const found = path.length > 0 || setting.secret === true ? '' : `, found ${quote(text)}`;
      mistakes.push(`${name}${path.map(member).join('')}: ${message}${found}.`);
    }
  }
  return { values, mistakes };
}

function member(key: PropertyKey): string {
  return typeof key === 'number' ? `[${key}]` : `.${String(key)}`;
}

/** The text, shortened and without what precedes an `@`, because addresses can contain a password there. */
function quote(text: string): string {
  const safe = text.replace(/^.*@/s, '…@');
  return JSON.stringify(safe.length > longestQuote ? `${safe.slice(0, longestQuote)}…` : safe);
}
