/**
 * Which options of a vendor's package a request can set (`provider_options`). Each table names every option of the
 * installed package: an update that brings another one does not compile until it is named.
 */

export const allowed = Symbol('allowed');

/** `allowed`, or a sentence that says why an option is refused or what to use instead. */
export type OptionRule = typeof allowed | string;

export type RulesOf<Options> = Readonly<Record<keyof Options & string, OptionRule>>;

const instead = (member: string): string => `Use the member \`${member}\` instead.`;

/** Why options of several packages are refused. */
export const reasons = {
  parallelToolCalls: instead('parameters.parallel_tool_calls'),
  tokens: instead('parameters.max_output_tokens'),
  format: instead('response_format'),
  logprobs: 'Answers do not contain log probabilities.',
  storage: 'The service does not let providers store requests, and does not refer to what they have stored.',
  beta: 'Headers of providers cannot be set.',
  reasoning: 'Answers do not contain the reasoning of the model.',
  serverTools: "Only tools that the caller runs can be used, not the provider's own.",
  otherModels: instead('fallbacks'),
  history: 'The messages are sent as they are.',
  unused: 'The option has no effect on the requests that the service makes.',
} as const;
