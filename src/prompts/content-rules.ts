import { ProblemError, type ProblemDetail } from '../base/errors/problem-error.ts';
import { findSchemaMistakes, newSchemaAllowance } from '../base/json-schema/schema-mistakes.ts';
import { isLongerAsJson } from '../base/runtime/json-size.ts';
import { findProviderOptionMistakes } from '../models/provider-options.ts';
import type { PromptGeneration } from './prompt.ts';
import { toStep } from '../base/runtime/json-pointer.ts';

/** The most places that a problem lists. */
const maxPlaces = 100;

/** The largest provider options of a prompt, in bytes of JSON text. */
const longestOptions = 16 * 1024;

/**
 * The largest tools, and the largest response format, in bytes of JSON text. The packages of the providers convert them
 * several times.
 */
const longestTools = 1024 * 1024;

export interface ContentRules {
  readonly isKnownProvider: (id: string) => boolean;
  /** False if the answer is not checked, so that its JSON Schemas can be any. */
  readonly checksSchemas?: boolean | undefined;
}

/**
 * Checks what the contract's schemas cannot express about how a prompt generates: between its fields, and with the
 * providers of this installation.
 *
 * @param generation all fields, after the change
 * @param changed those that are new; what a prompt has was checked when it was saved
 * @throws {ProblemError} inconsistent-content, unknown-provider, invalid-provider-option, invalid-schema
 */
export function requireUsable(
  generation: Partial<PromptGeneration>,
  changed: Partial<PromptGeneration>,
  { isKnownProvider, checksSchemas = true }: ContentRules,
): void {
  requireConsistent([...toolMistakes(generation), ...sizeMistakes(changed)]);
  requireKnownProviders(changed, isKnownProvider);
  requireAllowedOptions(changed);
  if (checksSchemas) requireUsableSchemas(changed);
}

function requireConsistent(errors: ProblemDetail[]): void {
  if (errors.length === 0) return;
  throw new ProblemError('inconsistent-content', {
    detail: 'The members of the request do not fit together.',
    errors,
  });
}

function requireKnownProviders(
  { fallbacks = [], providerOptions = {} }: Partial<PromptGeneration>,
  isKnownProvider: ContentRules['isKnownProvider'],
): void {
  const used = [
    ...fallbacks.map(({ provider }, index) => ({ provider, pointer: `#/fallbacks/${index}/provider` })),
    ...Object.keys(providerOptions).map((provider) => ({ provider, pointer: placeOfOptions(provider) })),
  ];
  const unknown = used.filter(({ provider }) => !isKnownProvider(provider));
  const [first] = unknown;
  if (first === undefined) return;
  throw new ProblemError('unknown-provider', {
    detail: `The provider ${JSON.stringify(first.provider)} is not known.`,
    errors: unknown.map(({ pointer }) => ({ detail: 'is not known', pointer })),
    extensions: { provider: first.provider },
  });
}

/** Checks the JSON Schemas of the answer and of the arguments of tools. */
function requireUsableSchemas({ responseFormat, tools = [] }: Partial<PromptGeneration>): void {
  const schemas = tools.map(({ parameters }, index) => ({
    schema: parameters,
    place: `#/tools/${index}/parameters`,
  }));
  if (responseFormat?.type === 'json' && responseFormat.schema !== undefined) {
    schemas.unshift({ schema: responseFormat.schema, place: '#/response_format/schema' });
  }
  const allowance = newSchemaAllowance();
  const errors = schemas.flatMap(({ schema, place }) =>
    findSchemaMistakes(schema, allowance).map(({ detail, pointer }) => ({ detail, pointer: place + pointer })),
  );
  if (errors.length === 0) return;
  throw new ProblemError('invalid-schema', {
    detail: 'A JSON Schema of the request cannot be used.',
    errors: errors.slice(0, maxPlaces),
  });
}

/** Checks that options change only how a model answers. */
function requireAllowedOptions({ providerOptions = {} }: Partial<PromptGeneration>): void {
  const errors = Object.entries(providerOptions).flatMap(([provider, options]) =>
    findProviderOptionMistakes(provider, options).map(({ detail, pointer }) => ({
      detail,
      pointer: placeOfOptions(provider) + pointer,
    })),
  );
  if (errors.length === 0) return;
  throw new ProblemError('invalid-provider-option', {
    detail: 'A provider option of the request cannot be used.',
    errors: errors.slice(0, maxPlaces),
  });
}

function placeOfOptions(provider: string): string {
  return `#/provider_options/${toStep(provider)}`;
}

function toolMistakes({ tools = [], toolChoice }: Partial<PromptGeneration>): ProblemDetail[] {
  const names = tools.map(({ name }) => name);
  const mistakes = names.flatMap((name, index) =>
    names.indexOf(name) === index ? [] : [{ detail: 'is the name of another tool', pointer: `#/tools/${index}/name` }],
  );
  if (typeof toolChoice === 'object' && !names.includes(toolChoice.name)) {
    mistakes.push({ detail: 'is not the name of a tool', pointer: '#/tool_choice/name' });
  }
  if (toolChoice === 'required' && names.length === 0) {
    mistakes.push({ detail: 'needs tools', pointer: '#/tool_choice' });
  }
  return mistakes;
}

function sizeMistakes({ providerOptions, tools, responseFormat }: Partial<PromptGeneration>): ProblemDetail[] {
  const tooLarge = (value: unknown, limit: number): boolean => value !== undefined && isLongerAsJson(value, limit);
  const mistake = (limit: number, pointer: string): ProblemDetail[] => [
    { detail: `must have at most ${limit} bytes as JSON text`, pointer },
  ];
  return [
    ...(tooLarge(providerOptions, longestOptions) ? mistake(longestOptions, '#/provider_options') : []),
    ...(tooLarge(tools, longestTools) ? mistake(longestTools, '#/tools') : []),
    ...(tooLarge(responseFormat, longestTools) ? mistake(longestTools, '#/response_format') : []),
  ];
}
