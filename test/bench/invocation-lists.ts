/**
 * `npm run program -- bench:invocations [records] [engine]` measures how long pages and counts of the invocation log take, on a
 * day with so many records of 10,000 keys and 1,000 prompts. It fills a database of its own, on the engine that the
 * service would start, and reads through the store of the log.
 */
import { randomUUID } from 'node:crypto';
import { createInvocationId, dayOf } from '../../src/accounting/invocations/invocation-id.ts';
import { dayMs } from '../../src/base/runtime/intervals.ts';
import { dayIndexes } from '../../src/accounting/invocations/invocation-lists.ts';
import { createInvocationStore } from '../../src/accounting/invocations/invocation-store.ts';
import type { InvocationDocument, InvocationFilter } from '../../src/accounting/invocations/invocation.ts';
import { fillLists } from './measure-lists.ts';

const size = Number(process.argv[2] ?? 1_000_000);
const keys = 10_000;
const prompts = 1_000;
const models = ['gpt-5-mini', 'gpt-5', 'claude-sonnet-4-5', 'gemini-2.5-flash'];
const start = Date.parse('2026-03-12T00:00:00Z');

function documentAt(index: number): InvocationDocument {
  const created_at = new Date(start + Math.floor((index / size) * dayMs));
  const model = models[index % models.length] ?? '';
  const hasFailed = index % 100 === 0;
  const usage = { inputTokens: 640, outputTokens: 130 };
  return {
    _id: createInvocationId(created_at, randomUUID()),
    created_at,
    operation: 'invoke',
    status: hasFailed ? 'failed' : 'succeeded',
    ...(hasFailed && { problem: 'provider-failed' }),
    // Neighbours in time are of different keys and prompts.
    author: { type: 'key', id: `key-${(index * 7_919) % keys}`, name: 'Helpdesk backend' },
    prompt_id: `prompt-${(index * 104_729) % prompts}`,
    prompt_slug: 'summarise-support-ticket',
    prompt_version: 2,
    tags: [`team=${index % 50}`],
    request_id: randomUUID(),
    streamed: false,
    cached: false,
    provider: 'openai',
    model,
    latency_ms: 1_874,
    usage,
    cost: 46_400,
    attempts: [
      {
        ...{ provider: 'openai', model, status: 'succeeded', started_at: created_at, latency_ms: 1_870 },
        ...{ usage, usage_source: 'provider', cost: 46_400 },
      },
    ],
  };
}

const collection = `invocations_${dayOf(start)}`;
const indexes = [{ collection, ...dayIndexes }];
const lists = await fillLists({ collection, indexes }, size, process.argv[3], documentAt);
const store = createInvocationStore(lists.database);
const lastHour = { since: new Date(start + dayMs - 3_600_000), until: new Date(start + dayMs) };
const measured: readonly (readonly [string, InvocationFilter, offset?: number])[] = [
  ['last hour of a key (1 in 10,000)', { ...lastHour, authorId: 'key-7' }],
  ['last hour of a prompt (1 in 1,000)', { ...lastHour, promptId: 'prompt-7' }],
  ['last hour of a prompt and a model', { ...lastHour, promptId: 'prompt-7', model: 'gpt-5' }],
  ['last hour with a problem (1 in 100)', { ...lastHour, problem: 'provider-failed' }],
  ['last hour with a tag (1 in 50)', { ...lastHour, tag: 'team=7' }],
  ['last hour of a model (1 in 4)', { ...lastHour, model: 'gpt-5' }],
  ['last hour', lastHour],
  ['the day of a key', { authorId: 'key-7' }],
  ['the day of a prompt', { promptId: 'prompt-7' }],
  ['the day', {}],
];
for (const [name, filter, offset] of measured) await lists.measure(name, store.list(filter), offset);
await lists.close();
