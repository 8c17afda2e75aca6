import type { components } from '../../generated/types.ts';
import type { Precondition } from '../editing/edits.ts';
import { ifMatch } from '../http/conditional.ts';
import type { OperationHandlers } from '../http/operation.ts';
import { nextPageLink } from '../http/page.ts';
import type { PageBounds } from './page.ts';
import { contentFields, promptFields, type Prompt, type PromptVersion } from './prompt.ts';
import type { Prompts } from './prompts.ts';
import { contentWarnings } from './warnings.ts';

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
      const prompt = await prompts.create(promptFields.readNew(body), context.resourceId);
      return {
        status: 201,
        headers: { Location: `${collectionPath}/${prompt.id}`, ETag: entityTag(prompt) },
        body: showSaved(prompt),
      };
    },
    async listPrompts({ query: { limit = defaultLimit, offset = 0, q } }) {
      const { prompts: found, total } = await prompts.list(page(limit, offset, promptFields.show), q);
      const pagination = { total, limit, offset };
      return {
        status: 200,
        headers: nextPageLink(collectionPath, pagination, found.length, { q }),
        body: { data: found.map(promptFields.show), pagination },
      };
    },
    async getPrompt({ path }) {
      const prompt = await prompts.get(path.slugOrId);
      return { status: 200, headers: { ETag: entityTag(prompt) }, body: promptFields.show(prompt) };
    },
    async updatePrompt({ path, headers, body }) {
      const prompt = await prompts.update(path.slugOrId, promptFields.readChange(body), ifMatches(headers['If-Match']));
      return { status: 200, headers: { ETag: entityTag(prompt) }, body: showSaved(prompt) };
    },
    async deletePrompt({ path, headers }) {
      await prompts.remove(path.slugOrId, ifMatches(headers['If-Match']));
      return { status: 200, body: { ok: true } };
    },
    async listPromptVersions({ path: { slugOrId }, query: { limit = defaultVersionLimit, offset = 0 } }) {
      const { prompt, versions } = await prompts.listVersions(
        slugOrId,
        page(limit, offset, (version) => showVersion(version, false)),
      );
      const pagination = { total: prompt.version, limit, offset };
      return {
        status: 200,
        headers: nextPageLink(`${collectionPath}/${slugOrId}/versions`, pagination, versions.length),
        body: {
          data: versions.map((version) => showVersion(version, version.version === prompt.version)),
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
        body: showVersion(version, current),
      };
    },
    async restorePromptVersion({ path, headers, context }) {
      const writeId = `restore:${context.resourceId}`;
      const prompt = await prompts.restore(path.slugOrId, path.version, ifMatches(headers['If-Match']), writeId);
      return { status: 200, headers: { ETag: entityTag(prompt) }, body: showSaved(prompt) };
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

/** A prompt that was just saved, with what is probably wrong with its content. */
function showSaved(prompt: Prompt): Schemas['Prompt'] {
  const warnings = contentWarnings(prompt);
  return { ...promptFields.show(prompt), ...(warnings.length === 0 ? {} : { warnings }) };
}

/** @param current is it the latest version? */
function showVersion({ version, content, createdAt }: PromptVersion, current: boolean): Schemas['PromptVersion'] {
  return { version, ...contentFields.show(content), created_at: createdAt.toISOString(), current };
}
