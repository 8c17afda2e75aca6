import { isDeepStrictEqual } from 'node:util';
import type { components } from '../../generated/types.ts';
import type { Precondition } from '../base/editing/edits.ts';
import { requireUnchanged } from '../base/editing/read-only-fields.ts';
import { requireEveryPrompt } from '../base/errors/beyond-limits.ts';
import type { Listing } from '../base/lists/listing.ts';
import { bytesInParts, createAnswersInParts, type CountIds } from '../http/answer-in-parts.ts';
import type { OperationHandlers } from '../http/operation.ts';
import { answerPage, writeWholeList, type WholeListing } from '../http/list-answer.ts';
import { defined } from '../base/runtime/objects.ts';
import { contentWarnings } from './templates/warnings.ts';
import { ifMatchPrompt, promptTag } from './entity-tag.ts';
import { requireNoGates } from './labels/require-override.ts';
import { contentFields, promptFields, type Prompt, type PromptChange, type PromptVersion } from './prompt.ts';
import type { Prompts } from './prompts.ts';
import { joined } from './batches.ts';
import type { WholeList } from './whole-list.ts';

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

/** The contract's operations on prompts and their versions. */
export function promptOperations(prompts: Prompts, wholeList: WholeList): PromptOperations {
  const answerWhole = createAnswersInParts('application/json');
  return {
    async createPrompt({ body: { note, ...body }, context }) {
      const prompt = await prompts.create(promptFields.readNew(body), context.resourceId, context, note);
      context.note({ prompt: prompt.id, version: prompt.version });
      return {
        status: 201,
        headers: { Location: `${collectionPath}/${prompt.id}`, ETag: promptTag(prompt) },
        body: showSaved(prompt),
      };
    },
    async listPrompts({ query, context }) {
      const { reach } = context.principal;
      const listing = (): Listing<Prompt> => prompts.list(query.q, reach);
      if (query.limit !== undefined) return await answerPage({ query, context }, listing, promptFields.show);
      // Many callers wait for their turn, as for other lists.
      await context.memory.cover(bytesInParts, context.signal);
      const whole = (countIds: CountIds): WholeListing => ({
        entries: (start) => wholeList({ text: query.q, reach }, start, countIds),
        total: () => listing().total(),
      });
      return await answerWhole((countIds) => joined(writeWholeList({ query, context }, whole(countIds))), context);
    },
    async getPrompt({ path }) {
      const prompt = await prompts.get(path.slugOrId);
      return { status: 200, headers: { ETag: promptTag(prompt) }, body: promptFields.show(prompt) };
    },
    async updatePrompt({ path, headers, body: { labels: _, note, ...body }, context }) {
      context.note({ prompt: path.slugOrId });
      const matches = ifMatches(headers['If-Match']);
      const change = promptFields.readChange(body);
      const prompt = await prompts.update(
        path.slugOrId,
        change,
        (present) => {
          if (changesNames(present, change)) requireEveryPrompt(context.principal.reach, 'change slugs and aliases');
          if (losesNames(present, change)) requireNoGates(present, context.principal);
          return matches(present) && requireUnchanged(promptFields.others(body), showSaved(present));
        },
        context,
        note,
      );
      context.note({ prompt: prompt.id, version: prompt.version });
      return { status: 200, headers: { ETag: promptTag(prompt) }, body: showSaved(prompt) };
    },
    async deletePrompt({ path, headers, context }) {
      context.note({ prompt: path.slugOrId });
      const matches = ifMatches(headers['If-Match']);
      const precondition: Precondition<Prompt> = (present) =>
        matches(present) && requireNoGates(present, context.principal);
      await prompts.remove(path.slugOrId, precondition, context);
      return { status: 200, body: { ok: true } };
    },
    listPromptVersions(input) {
      const find = () => prompts.listVersions(input.path.slugOrId);
      return answerPage(input, find, ({ version, isCurrent }) => showVersion(version, isCurrent));
    },
    async getPromptVersion({ path }) {
      const { prompt, version } = await prompts.getVersion(path.slugOrId, path.version);
      const current = version.version === prompt.version;
      return {
        status: 200,
        // A version never changes, except whether it is the current one.
        headers: { ETag: `"${prompt.id}.v${version.version}${current ? '.current' : ''}"` },
        body: showVersion(version, current),
      };
    },
    async restorePromptVersion({ path, headers, context }) {
      context.note({ prompt: path.slugOrId });
      const writeId = `restore:${context.resourceId}`;
      const matches = ifMatches(headers['If-Match']);
      const prompt = await prompts.restore(path.slugOrId, path.version, matches, context, writeId);
      context.note({ prompt: prompt.id, version: prompt.version });
      return { status: 200, headers: { ETag: promptTag(prompt) }, body: showSaved(prompt) };
    },
  };
}

/** Whether other callers would find the prompt under other names, or another prompt under one of its names. */
function changesNames(prompt: Prompt, change: PromptChange): boolean {
  const { slug, aliases } = { ...prompt, ...change };
  return slug !== prompt.slug || !isDeepStrictEqual(aliases, prompt.aliases);
}

/** Whether the prompt would no longer be found under one of its names. */
function losesNames(prompt: Prompt, change: PromptChange): boolean {
  const { slug, aliases = [] } = { ...prompt, ...change };
  const kept = new Set([slug, ...aliases]);
  return [prompt.slug, ...(prompt.aliases ?? [])].some((name) => !kept.has(name));
}

function ifMatches(field: string | undefined): Precondition<Prompt> {
  return (prompt) => ifMatchPrompt(field, prompt);
}

/** A prompt that was just saved, with warnings about its content. */
function showSaved(prompt: Prompt): Schemas['Prompt'] {
  const warnings = contentWarnings(prompt);
  return { ...promptFields.show(prompt), ...(warnings.length === 0 ? {} : { warnings }) };
}

/** @param current whether it is the latest version */
function showVersion(
  { version, content, createdAt, author, note }: PromptVersion,
  current: boolean,
): Schemas['PromptVersion'] {
  const made = { created_at: createdAt.toISOString(), author, ...defined({ note }) };
  return { version, ...contentFields.show(content), ...made, current };
}
