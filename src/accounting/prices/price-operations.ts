import type { components } from '../../../generated/types.ts';
import { requireEveryPrompt } from '../../base/errors/beyond-limits.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { ifMatch } from '../../http/conditional.ts';
import { answerPage } from '../../http/list-answer.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { toInstant } from '../../base/runtime/instants.ts';
import { defined } from '../../base/runtime/objects.ts';
import { fromRate, toRate } from '../../base/runtime/money.ts';
import { tableVersion } from './price-table.ts';
import type { EffectivePrice, PricePrecondition, Prices } from './prices.ts';
import type { Rate } from './rates.ts';

type Schemas = components['schemas'];
type PriceOperations = Pick<OperationHandlers, 'listPrices' | 'getPrice' | 'setPrice' | 'deletePrice'>;

export function priceOperations(prices: Prices): PriceOperations {
  return {
    listPrices(input) {
      const { provider, source } = input.query;
      return answerPage(input, () => prices.list(defined({ provider, source })), showPrice);
    },
    async getPrice({ path: { provider, model } }) {
      const price = await prices.get(provider, model);
      return { status: 200, headers: { ETag: tagOf(price) }, body: showPrice(price) };
    },
    async setPrice({ path: { provider, model }, headers, body, context }) {
      requireEveryPrompt(context.principal.reach, 'change prices');
      const wanted = { provider, model, rates: body.rates.map(readRate) };
      const { isNew, ...price } = await prices.set(wanted, expectation(headers['If-Match']), context);
      const answer = { headers: { ETag: tagOf(price) }, body: showPrice(price) };
      if (!isNew) return { status: 200, ...answer };
      const Location = `/api/v1/prices/${encodeURIComponent(provider)}/${encodeURIComponent(model)}`;
      return { status: 201, ...answer, headers: { ...answer.headers, Location } };
    },
    async deletePrice({ path: { provider, model }, headers, context }) {
      requireEveryPrompt(context.principal.reach, 'change prices');
      await prices.remove(provider, model, expectation(headers['If-Match']), context);
      return { status: 200, body: { ok: true } };
    },
  };
}

/** Changes with each write, also after a deletion, and with the table. */
function tagOf({ own }: EffectivePrice): string {
  return own === undefined ? `"table-${tableVersion}"` : `"${own.setAt.getTime()}.${own.revision}-${tableVersion}"`;
}

function expectation(expected: string | undefined): PricePrecondition {
  return (present) => {
    if (ifMatch(expected, tagOf(present))) return;
    throw new ProblemError('precondition-failed', {
      detail: 'The price has changed: If-Match does not match its current ETag.',
    });
  };
}

function readRate(sent: Schemas['PriceRateInput']): Rate {
  const { from, above_input_tokens: above, input, output, cached_input: cached } = sent;
  const { cache_write: written = input, cache_write_1h: hour = written } = sent;
  return {
    ...defined({ from: toInstant(from), aboveInputTokens: above }),
    input: toRate(input),
    cachedInput: toRate(cached ?? input),
    cacheWrite: toRate(written),
    cacheWrite1h: toRate(hour),
    output: toRate(output),
    call: 0n,
  };
}

function showPrice({ provider, model, source, rates, table, own }: EffectivePrice): Schemas['ModelPrice'] {
  return {
    provider,
    model,
    source,
    ...(table !== undefined && { table_model: table.model, table_match: table.match }),
    currency: 'USD',
    rates: rates.map(showRate),
    ...(own !== undefined && {
      set_at: own.setAt.toISOString(),
      set_by: { id: own.setBy.id, name: own.setBy.name },
    }),
  };
}

function showRate(rate: EffectivePrice['rates'][number]): Schemas['PriceRate'] {
  const { source, from, daily, aboveInputTokens: above, call } = rate;
  return {
    source,
    ...(from !== undefined && { from: from.toISOString() }),
    ...(daily !== undefined && { daily: { start: timeOf(daily.start), end: timeOf(daily.end) } }),
    ...(above !== undefined && { above_input_tokens: above }),
    input: fromRate(rate.input),
    cached_input: fromRate(rate.cachedInput),
    cache_write: fromRate(rate.cacheWrite),
    cache_write_1h: fromRate(rate.cacheWrite1h),
    output: fromRate(rate.output),
    // Of a call there are no millions.
    ...(call > 0n && { call: fromRate(call / 1_000_000n) }),
  };
}

/** `16:30:00` */
function timeOf(second: number): string {
  return new Date(second * 1_000).toISOString().slice(11, 19);
}
