import type { components } from '../../generated/types.ts';
import { toMessages, toVariables, type PromptContent } from './content.ts';
import type { Prompt, PromptVersion } from './prompt.ts';
import { contentWarnings } from './warnings.ts';

type Schemas = components['schemas'];

/** A prompt as the contract shows it. What is not set is absent. */
export function representPrompt(prompt: Prompt): Schemas['Prompt'] {
  return {
    id: prompt.id,
    slug: prompt.slug,
    name: prompt.name,
    ...(prompt.description === undefined ? {} : { description: prompt.description }),
    ...representContent(prompt.content),
    ...(prompt.testSettings === undefined ? {} : { test_settings: prompt.testSettings }),
    version: prompt.version,
    created_at: prompt.createdAt.toISOString(),
    updated_at: prompt.updatedAt.toISOString(),
  };
}

/** A prompt that was just saved, with what is probably wrong with its content. */
export function representSaved(prompt: Prompt): Schemas['Prompt'] {
  const warnings = contentWarnings(prompt.content);
  return { ...representPrompt(prompt), ...(warnings.length === 0 ? {} : { warnings }) };
}

/** A version as the contract shows it. @param current is it the latest one? */
export function representVersion(version: PromptVersion, current: boolean): Schemas['PromptVersion'] {
  return {
    version: version.version,
    ...representContent(version.content),
    created_at: version.createdAt.toISOString(),
    current,
  };
}

type ContentMembers = Pick<
  Schemas['Prompt'],
  'messages' | 'variables' | 'strict' | 'selected_provider' | 'selected_model'
>;
type Variables = NonNullable<ContentMembers['variables']>;

function representContent({
  messages,
  variables,
  strict,
  selectedProvider,
  selectedModel,
}: PromptContent): ContentMembers {
  return {
    messages: toMessages(messages),
    ...(variables === undefined ? {} : { variables: toVariables(Object.entries(variables)) as Variables }),
    ...(strict === undefined ? {} : { strict }),
    ...(selectedProvider === undefined ? {} : { selected_provider: selectedProvider }),
    ...(selectedModel === undefined ? {} : { selected_model: selectedModel }),
  };
}
