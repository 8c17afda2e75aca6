import type { components } from '../../generated/types.ts';
import type { Precondition } from '../editing/edits.ts';
import { ifMatch } from '../http/conditional.ts';
import type { OperationHandlers } from '../http/operation.ts';
import { nextPageLink } from '../http/page.ts';
import type { PromptChange } from './prompt-changes.ts';
import { toMessages, toVariables } from './content.ts';
import type { PageBounds } from './page.ts';
import type { Prompt } from './prompt.ts';
import type { NewPrompt, Prompts } from './prompts.ts';
import { representPrompt, representSaved, representVersion } from './prompt-representation.ts';
import { toTestSettings } from './test-settings.ts';

type Schemas = components['schemas'];
type PromptOperations = Pick<
  OperationHandlers,
  | 'createPrompt'
  | 'listPrompts'
  | 'getPrompt'
  | 'updatePrompt'
  | 'deletePrompt'
  | 'listPromptVersions'
  | 'getPromptVersion'
  | 'restorePromptVersion'
>;

const collectionPath = '/api/v1/prompts';
const defaultLimit = 1_000;
const defaultVersionLimit = 50;
/** Most bytes of the items of a page, leaving room for the rest of an answer of 8 MiB. */
const pageBytes = 8 * 1024 * 1024 - 1024;

/** The contract's operations on prompts and their versions. */
export function promptOperations(prompts: Prompts): PromptOperations {
  return {
    async createPrompt({ body, context }) {
      const prompt = await prompts.create(toNewPrompt(body), context.resourceId);
      return {
        status: 201,
        headers: { Location: `${collectionPath}/${prompt.id}`, ETag: entityTag(prompt) },
        body: representSaved(prompt),
      };
    },
    async listPrompts({ query: { limit = defaultLimit, offset = 0, q } }) {
      const { prompts: found, total } = await prompts.list(page(limit, offset, representPrompt), q);
      const pagination = { total, limit, offset };
      return {
        status: 200,
        headers: nextPageLink(collectionPath, pagination, found.length, { q }),
        body: { data: found.map(representPrompt), pagination },
      };
    },
    async getPrompt({ path }) {
      const prompt = await prompts.get(path.slugOrId);
      return { status: 200, headers: { ETag: entityTag(prompt) }, body: representPrompt(prompt) };
    },
    async updatePrompt({ path, headers, body }) {
      const prompt = await prompts.update(path.slugOrId, toChange(body), ifMatches(headers['If-Match']));
      return { status: 200, headers: { ETag: entityTag(prompt) }, body: representSaved(prompt) };
    },
    async deletePrompt({ path, headers }) {
      await prompts.remove(path.slugOrId, ifMatches(headers['If-Match']));
      return { status: 200, body: { ok: true } };
    },
    async listPromptVersions({ path: { slugOrId }, query: { limit = defaultVersionLimit, offset = 0 } }) {
      const { prompt, versions } = await prompts.listVersions(
        slugOrId,
        page(limit, offset, (version) => representVersion(version, false)),
      );
      const pagination = { total: prompt.version, limit, offset };
      return {
        status: 200,
        headers: nextPageLink(`${collectionPath}/${slugOrId}/versions`, pagination, versions.length),
        body: {
          data: versions.map((version) => representVersion(version, version.version === prompt.version)),
          pagination,
        },
      };
    },
    async getPromptVersion({ path }) {
      const { prompt, version } = await prompts.getVersion(path.slugOrId, path.version);
      const current = version.version === prompt.version;
      return {
        status: 200,
        // All of a version stays as it is but whether it is the current one.
        headers: { ETag: `"${prompt.id}.v${version.version}${current ? '.current' : ''}"` },
        body: representVersion(version, current),
      };
    },
    async restorePromptVersion({ path, headers, context }) {
      const writeId = `restore:${context.resourceId}`;
      const prompt = await prompts.restore(path.slugOrId, path.version, ifMatches(headers['If-Match']), writeId);
      return { status: 200, headers: { ETag: entityTag(prompt) }, body: representSaved(prompt) };
    },
  };
}

/** The entity tag of a prompt: another one after each write. */
function entityTag({ id, revision }: Prompt): string {
  return `"${id}.${revision}"`;
}

function ifMatches(field: string | undefined): Precondition<Prompt> {
  return (prompt) => ifMatch(field, entityTag(prompt));
}

function page<Item>(limit: number, offset: number, represent: (item: Item) => object): PageBounds<Item> {
  const sizeOf = (item: Item): number => Buffer.byteLength(JSON.stringify(represent(item)));
  return { limit, offset, bytes: pageBytes, sizeOf };
}

function toNewPrompt(body: Schemas['PromptCreate']): NewPrompt {
  return {
    name: body.name,
    slug: body.slug,
    description: body.description,
    content: {
      messages: toMessages(body.messages),
      variables: body.variables === undefined ? undefined : toVariables(Object.entries(body.variables)),
      strict: body.strict === true ? true : undefined,
      selectedProvider: body.selected_provider,
      selectedModel: body.selected_model,
    },
    // On update `null` clears them, so here it has to mean that there are none.
    testSettings: toTestSettings(body.test_settings ?? null) ?? undefined,
  };
}

/** Leaves out the fields that belong to the server. */
function toChange(body: Schemas['PromptUpdate']): PromptChange {
  const { variables } = body;
  return {
    name: body.name,
    slug: body.slug,
    description: body.description,
    messages: body.messages === undefined ? undefined : toMessages(body.messages),
    variables: variables === undefined || variables === null ? variables : toVariables(Object.entries(variables)),
    strict: body.strict,
    selectedProvider: body.selected_provider,
    selectedModel: body.selected_model,
    testSettings: body.test_settings === undefined ? undefined : toTestSettings(body.test_settings),
  };
}
