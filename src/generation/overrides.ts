import { requireAllowedOptions, requireConsistent, requireUsableSchemas } from '../prompts/content-rules.ts';
import type { Fallback, PromptContent } from '../prompts/prompt.ts';
import type { JsonObject, Parameters, ResponseFormat, Tool, ToolChoice } from '../providers/language-model.ts';

/** What a request changes in the content of a prompt. `null` means none, whatever the prompt has. */
export interface Overrides {
  /** Merged with those of the prompt, member by member. */
  readonly parameters?: Parameters | null | undefined;
  readonly responseFormat?: ResponseFormat | null | undefined;
  readonly tools?: readonly Tool[] | null | undefined;
  readonly toolChoice?: ToolChoice | null | undefined;
  /** By the id of the provider. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>> | null | undefined;
  readonly fallbacks?: readonly Fallback[] | null | undefined;
  readonly retries?: number | undefined;
}

type Overridable = Pick<PromptContent, keyof Overrides>;

/**
 * How a prompt generates in this request.
 *
 * @param checksSchemas false if the answer is not checked, so that its JSON Schemas can be any
 * @throws {ProblemError} inconsistent-content, unknown-provider, invalid-provider-option, invalid-schema, with places in
 *   the request
 */
export function withOverrides(
  content: Overridable,
  overrides: Overrides,
  isKnownProvider: (id: string) => boolean,
  checksSchemas = true,
): Overridable {
  const { parameters, responseFormat, tools, toolChoice, providerOptions, fallbacks, retries } = overrides;
  const members = [parameters, responseFormat, tools, toolChoice, providerOptions, fallbacks, retries];
  if (members.every((member) => member === undefined)) return content;
  const merged = {
    parameters: replaced(content.parameters, parameters && { ...content.parameters, ...parameters }),
    responseFormat: replaced(content.responseFormat, responseFormat),
    tools: replaced(content.tools, tools),
    toolChoice: replaced(content.toolChoice, toolChoice),
    providerOptions: replaced(content.providerOptions, providerOptions),
    fallbacks: replaced(content.fallbacks, fallbacks),
    retries: replaced(content.retries, retries),
  };
  // What the prompt itself has was checked when it was saved.
  const sent = { providerOptions: providerOptions ?? undefined, fallbacks: fallbacks ?? undefined };
  requireConsistent({ ...merged, ...sent }, isKnownProvider);
  requireAllowedOptions(sent.providerOptions);
  if (checksSchemas) requireUsableSchemas({ responseFormat: responseFormat ?? undefined, tools: tools ?? undefined });
  return merged;
}

function replaced<Value>(stored: Value | undefined, sent: Value | null | undefined): Value | undefined {
  return sent === undefined ? stored : (sent ?? undefined);
}
