import type { JsonObject, Tool } from '../providers/language-model.ts';
import { withoutNulls } from './without-nulls.ts';

/** A function, as both APIs describe it. */
interface SentTool {
  readonly name: string;
  readonly description?: string | null;
  readonly parameters?: Readonly<Record<string, unknown>> | null;
  readonly strict?: boolean | null;
}

export function toTool(sent: SentTool): Tool {
  const { name, description, parameters, strict } = withoutNulls(sent);
  return {
    name,
    ...(description !== undefined && { description }),
    parameters: (parameters ?? { type: 'object', properties: {} }) as JsonObject,
    ...(strict !== undefined && { strict }),
  };
}
