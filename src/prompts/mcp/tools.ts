import type { OperationId } from '../../../generated/operations.ts';

/** The arguments of a tool, as its schema says what they are. */
export type Arguments = Readonly<Record<string, unknown>>;

/** What an operation gets of a tool. */
export interface ToolCall {
  readonly operation: OperationId;
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** A tool that is an operation. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For a model. */
  readonly description: string;
  /** Whose scope it needs. */
  readonly operation: OperationId;
  readonly isReading: boolean;
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
  readonly toCall: (sent: Arguments) => ToolCall;
}

const text = (description: string): object => ({ type: 'string', description });
const number = (description: string, minimum: number, maximum: number): object => ({
  type: 'integer',
  description,
  minimum,
  maximum,
});

const prompt = text('Slug, alias or id of the prompt.');
const version = number('Number of the version. The latest if left out.', 1, 2_147_483_647);
const label = text('A label such as production. It names a version.');
const variables = { type: 'object', description: 'Values of the variables, by name.' };
const limit = number('The most entries. 20 if left out.', 1, 100);
const after = text('The `pagination.next` of the page before.');
const since = text('From this time on, such as 2026-11-01T00:00:00Z.');
const until = text('Before this time.');
const messages = {
  type: 'array',
  description: 'Messages, in their order.',
  items: {
    type: 'object',
    properties: { role: { type: 'string', enum: ['system', 'user', 'assistant'] }, content: { type: 'string' } },
    required: ['role', 'content'],
  },
};

/** Lists answer fewer entries than by themselves, because a model reads them. */
const usualLimit = 20;

const inPrompt = ({ prompt: slugOrId }: Arguments): { readonly slugOrId: string } => ({ slugOrId: String(slugOrId) });

function without(sent: Arguments, ...names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !names.includes(name)));
}

/** The tools, in the order of the list. */
export const tools: readonly Tool[] = [
  {
    name: 'list_prompts',
    title: 'List prompts',
    description: 'Lists the stored prompts, the most recently updated first.',
    operation: 'listPrompts',
    isReading: true,
    properties: { q: text('Only those whose name, slug or description contains it.'), limit, after },
    required: [],
    toCall: (sent) => ({ operation: 'listPrompts', query: { limit: usualLimit, ...sent } }),
  },
  {
    name: 'get_prompt',
    title: 'Get a prompt',
    description: 'Reads a stored prompt: its messages with placeholders, variables, settings and labels.',
    operation: 'getPrompt',
    isReading: true,
    properties: { prompt, version },
    required: ['prompt'],
    toCall: (sent) =>
      sent['version'] === undefined
        ? { operation: 'getPrompt', path: inPrompt(sent) }
        : { operation: 'getPromptVersion', path: { ...inPrompt(sent), version: sent['version'] as number } },
  },
  {
    name: 'render_prompt',
    title: 'Render a prompt',
    description: 'Shows what an invocation of a stored prompt would send, and to which models. Nothing is sent.',
    operation: 'renderPrompt',
    isReading: true,
    properties: { prompt, variables, version, label },
    required: ['prompt'],
    toCall: (sent) => ({ operation: 'renderPrompt', path: inPrompt(sent), body: without(sent, 'prompt') }),
  },
  {
    name: 'invoke_prompt',
    title: 'Invoke a prompt',
    description: 'Runs a stored prompt on its model, and returns the answer with what it cost. The call is paid.',
    operation: 'invokePrompt',
    isReading: false,
    properties: { prompt, variables, version, label, messages },
    required: ['prompt'],
    toCall: (sent) => ({ operation: 'invokePrompt', path: inPrompt(sent), body: without(sent, 'prompt') }),
  },
  {
    name: 'create_prompt_version',
    title: 'Create a version of a prompt',
    description:
      'Changes the content of a stored prompt, which makes a new version. Labels stay at their versions, so what callers of a label get does not change. What is left out stays as it is.',
    operation: 'updatePrompt',
    isReading: false,
    properties: {
      prompt,
      messages,
      variables: { type: 'object', description: 'By name: an object with default, description and required.' },
      parameters: { type: 'object', description: 'Such as temperature and max_output_tokens.' },
      selected_provider: text('Id of the provider.'),
      selected_model: text('Name of the model.'),
      note: text('Why the version was made.'),
      if_match: text('The `etag` that get_prompt returned. If the prompt has changed since then, nothing is changed.'),
    },
    required: ['prompt'],
    toCall: ({ if_match, ...sent }) => ({
      operation: 'updatePrompt',
      path: inPrompt(sent),
      headers: if_match === undefined ? {} : { 'If-Match': if_match },
      body: without(sent, 'prompt'),
    }),
  },
  {
    name: 'list_invocations',
    title: 'List invocations',
    description: 'Lists what was asked of models: when, by whom, with which outcome and cost. Without texts.',
    operation: 'listInvocations',
    isReading: true,
    properties: {
      prompt,
      version: number('Only those of this version.', 1, 2_147_483_647),
      label: text('Only those that named this label.'),
      status: { type: 'string', enum: ['succeeded', 'failed', 'canceled', 'interrupted'], description: 'Only these.' },
      since,
      until,
      limit,
      after,
    },
    required: [],
    toCall: (sent) => ({ operation: 'listInvocations', query: { limit: usualLimit, ...sent } }),
  },
  {
    name: 'get_costs',
    title: 'Get costs',
    description: 'Adds up what calls of models cost, in US dollars. Of the last 30 days if no time is given.',
    operation: 'getCosts',
    isReading: true,
    properties: {
      by: {
        type: 'string',
        enum: ['day', 'key', 'prompt', 'version', 'model', 'tag'],
        description: 'What is added up. By day if left out.',
      },
      since,
      until,
      prompt,
      provider: text('Only calls of this provider.'),
      model: text('Only calls of this model.'),
      tag: text('Only calls with this tag, such as team=checkout.'),
    },
    required: [],
    toCall: (sent) => ({ operation: 'getCosts', query: sent }),
  },
];
