import type { StampedDocument, Unstamped } from '../db/writes.ts';
import type { Message, VariableDefinition } from '../templates/render.ts';
import { toMessages, toVariables, type PromptContent } from './content.ts';
import type { Prompt, PromptVersion } from './prompt.ts';

/** A prompt's content in the database. What a caller chose is never the name of a field here. */
interface ContentDocument {
  messages: Message[];
  variables?: VariableDocument[];
  strict?: true;
  selected_provider?: string;
  selected_model?: string;
}

/** Variables are a list: a name such as `a.b` or `__proto__` would not survive as the name of a field. */
interface VariableDocument extends VariableDefinition {
  name: string;
}

/** A document of the collection `prompts`. */
export interface PromptDocument extends StampedDocument, ContentDocument {
  slug: string;
  name: string;
  description?: string;
  /** JSON text. */
  test_settings?: string;
  version: number;
  version_created_at: Date;
  created_at: Date;
  updated_at: Date;
  deleting: boolean;
  /** Of one prompt in 64. */
  sample?: string;
}

/** A document of the collection `prompt_versions`, under the id `<prompt id>:<version>`. */
export interface VersionDocument extends ContentDocument {
  _id: string;
  prompt_id: string;
  version: number;
  created_at: Date;
}

/** Fields that a prompt may lack: an update has to remove those that it does not set. */
export const optionalFields = [
  'description',
  'variables',
  'strict',
  'selected_provider',
  'selected_model',
  'test_settings',
] as const;

/** The fields of a prompt that an update writes. */
export function toChangeableFields(
  prompt: Prompt,
): Omit<Unstamped<PromptDocument>, '_id' | 'created_at' | 'deleting' | 'sample'> {
  return {
    slug: prompt.slug,
    name: prompt.name,
    ...(prompt.description === undefined ? {} : { description: prompt.description }),
    ...toContentFields(prompt.content),
    ...(prompt.testSettings === undefined ? {} : { test_settings: JSON.stringify(prompt.testSettings) }),
    version: prompt.version,
    version_created_at: prompt.versionCreatedAt,
    updated_at: prompt.updatedAt,
  };
}

/** The prompt that a document holds, field by field. */
export function fromPromptDocument(document: PromptDocument): Prompt {
  return {
    id: document._id,
    slug: document.slug,
    name: document.name,
    description: document.description,
    content: fromContentFields(document),
    testSettings: document.test_settings === undefined ? undefined : JSON.parse(document.test_settings),
    version: document.version,
    versionCreatedAt: document.version_created_at,
    createdAt: document.created_at,
    updatedAt: document.updated_at,
    revision: document.revision,
    writes: document.writes,
    deleting: document.deleting,
  };
}

/** The id under which a version is archived. */
export function versionId(promptId: string, version: number): string {
  return `${promptId}:${version}`;
}

/** A version as it is archived. */
export function toVersionDocument({ promptId, version, content, createdAt }: PromptVersion): VersionDocument {
  return {
    _id: versionId(promptId, version),
    prompt_id: promptId,
    version,
    ...toContentFields(content),
    created_at: createdAt,
  };
}

/** The version that a document holds, field by field. */
export function fromVersionDocument(document: VersionDocument): PromptVersion {
  return {
    promptId: document.prompt_id,
    version: document.version,
    content: fromContentFields(document),
    createdAt: document.created_at,
  };
}

function toContentFields({
  messages,
  variables,
  strict,
  selectedProvider,
  selectedModel,
}: PromptContent): ContentDocument {
  return {
    messages: toMessages(messages),
    ...(variables === undefined
      ? {}
      : { variables: Object.entries(variables).map(([name, definition]) => ({ name, ...definition })) }),
    ...(strict === undefined ? {} : { strict }),
    ...(selectedProvider === undefined ? {} : { selected_provider: selectedProvider }),
    ...(selectedModel === undefined ? {} : { selected_model: selectedModel }),
  };
}

function fromContentFields(document: ContentDocument): PromptContent {
  return {
    messages: toMessages(document.messages),
    variables:
      document.variables === undefined
        ? undefined
        : toVariables(document.variables.map((variable) => [variable.name, variable])),
    strict: document.strict,
    selectedProvider: document.selected_provider,
    selectedModel: document.selected_model,
  };
}
