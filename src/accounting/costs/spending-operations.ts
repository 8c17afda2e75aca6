import type { components, operations } from '../../../generated/types.ts';
import { showMoney } from '../../base/runtime/money.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import type { PromptIds } from '../invocations/prompt-ids.ts';
import { createFairQueue } from '../../base/limits/fair-queue.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { floorTo, quarterMs } from '../../base/runtime/intervals.ts';
import { toInstant } from '../../base/runtime/instants.ts';
import { defined } from '../../base/runtime/objects.ts';
import type { CostsOfGroup, Dimension, Spending } from './spending.ts';
import { keptMs } from './spending-store.ts';
import type { Sums } from './sums.ts';

type Schemas = components['schemas'];
type Costs = operations['getCosts']['responses'][200]['content']['application/json'];

export interface SpendingOperationsDependencies {
  readonly spending: Pick<Spending, 'get'>;
  readonly prompts: Pick<PromptIds, 'recordedId'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Stores the records of this process that are not stored yet, so that a caller finds what it has just done. */
  readonly flush: () => Promise<void>;
}

const usualDays = 30;
const dayMs = 24 * 3_600_000;
const mostGroups = 1_000;

export function spendingOperations({
  spending,
  prompts,
  clock,
  flush,
}: SpendingOperationsDependencies): Pick<OperationHandlers, 'getCosts'> {
  /** Sums of a year read thousands of documents. */
  const reading = createFairQueue({ places: 2 });
  return {
    async getCosts({ query, context }) {
      const { by = 'day', prompt, key_id: keyId, provider, model, tag } = query;
      const { reach } = context.principal;
      const promptIds = prompt === undefined ? reach?.prompts : new Set([await prompts.recordedId(prompt, reach)]);
      const now = clock.now().getTime();
      const since = toInstant(query.since)?.getTime() ?? floorTo(dayMs, now - usualDays * dayMs);
      const until = toInstant(query.until)?.getTime() ?? now + quarterMs;
      const span = {
        since: floorTo(quarterMs, since),
        until: Math.max(floorTo(quarterMs, since), floorTo(quarterMs, until)),
      };
      // There is nothing before and after: a span of centuries is not read day by day.
      const read = {
        since: Math.max(span.since, floorTo(dayMs, now - keptMs)),
        until: Math.min(span.until, floorTo(quarterMs, now) + quarterMs),
      };
      await flush();
      const leave = await reading.enter({ key: context.principal.family, signal: context.signal });
      const { total, spent, completeUntil, addedUpUntil } = await spending
        .get({ by, ...read, promptIds, keyId, provider, model, tag })
        .finally(leave);
      const body: Costs = {
        since: new Date(span.since).toISOString(),
        until: new Date(span.until).toISOString(),
        complete_until: new Date(completeUntil).toISOString(),
        ...(addedUpUntil !== undefined && { added_up_until: new Date(addedUpUntil).toISOString() }),
        total: showSums(total),
        groups: spent.slice(0, mostGroups).map((one) => ({ ...showGroup(by, one), sums: showSums(one.sums) })),
        ...(spent.length > mostGroups && { left_out: spent.length - mostGroups }),
      };
      return { status: 200, body };
    },
  };
}

function showGroup(by: Dimension, { day, group }: CostsOfGroup): Omit<Schemas['CostGroup'], 'sums'> {
  const { keyId, keyName, promptId, promptSlug, promptVersion, provider, model, tag } = group;
  const prompt = defined({ prompt_id: promptId, prompt_slug: promptSlug });
  switch (by) {
    case 'day':
      return { day };
    case 'key':
      return { key_id: keyId, key_name: keyName };
    case 'prompt':
      return prompt;
    case 'version':
      return { ...prompt, ...defined({ prompt_version: promptVersion }) };
    case 'model':
      return { provider, model };
    case 'tag':
      return defined({ tag });
  }
}

function showSums({
  calls,
  failedCalls,
  inputTokens,
  outputTokens,
  estimatedInputTokens,
  estimatedOutputTokens,
  cost,
  ceilingCost,
  withoutCost,
}: Sums): Schemas['CostSums'] {
  return {
    calls,
    failed_calls: failedCalls,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    ...(estimatedInputTokens > 0 && { estimated_input_tokens: estimatedInputTokens }),
    ...(estimatedOutputTokens > 0 && { estimated_output_tokens: estimatedOutputTokens }),
    cost: showMoney(cost),
    ...(ceilingCost > 0n && { ceiling_cost: showMoney(ceilingCost) }),
    without_cost: withoutCost,
  };
}
