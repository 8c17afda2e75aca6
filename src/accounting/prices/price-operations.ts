import type { components } from '../../../generated/types.ts';
import { requireUnchanged } from '../../base/editing/read-only-fields.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { ifMatch } from '../../http/conditional.ts';
import { answerPage } from '../../http/list-answer.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { defined } from '../../base/runtime/objects.ts';
import { tableVersion } from './price-table.ts';
import { priceFields, priceRate, rateList } from './price.ts';
import type { ChooseRates, EffectivePrice, PricePrecondition, Prices } from './prices.ts';
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
      const requireExpected = expectation(headers['If-Match']);
      const choose: ChooseRates = (present) => {
        requireExpected(present);
        return chooseRates(body, present);
      };
      const { isNew, ...price } = await prices.set(provider, model, choose, context);
      const answer = { headers: { ETag: tagOf(price) }, body: showPrice(price) };
      if (!isNew) return { status: 200, ...answer };
      const Location = `/api/v1/prices/${encodeURIComponent(provider)}/${encodeURIComponent(model)}`;
      return { status: 201, ...answer, headers: { ...answer.headers, Location } };
    },
    async deletePrice({ path: { provider, model }, headers, context }) {
      await prices.remove(provider, model, expectation(headers['If-Match']), context);
      return { status: 200, body: { ok: true } };
    },
  };
}

/** Changes with each write, also after a deletion, and with the table. */
function tagOf({ own }: EffectivePrice): string {
  return own === undefined ? `"table-${tableVersion}"` : `"${own.updatedAt.getTime()}.${own.revision}-${tableVersion}"`;
}

function expectation(expected: string | undefined): PricePrecondition {
  return (present) => {
    if (ifMatch(expected, tagOf(present))) return;
    throw new ProblemError('precondition-failed', {
      detail: 'The price has changed: If-Match does not match its current ETag.',
    });
  };
}

/**
 * The operator's own rates after a PUT. Those of the table can be sent, unchanged.
 * @throws {ProblemError} read-only-field; invalid-request if none would be left
 */
function chooseRates({ rates: sent, ...others }: Schemas['ModelPriceInput'], present: EffectivePrice): readonly Rate[] {
  const { own } = present;
  const shown = showPrice(present);
  const table = shown.rates.filter(({ source }) => source === 'table');
  // What cannot be set, by its place in the body: as it is sent, and as it is.
  const fixed: Record<string, unknown> = { ...others };
  const is: Record<string, unknown> = { ...shown };
  for (const [index, rate] of (sent ?? []).entries()) {
    const place = `rates/${index}`;
    if (rate.source === 'table') {
      fixed[place] = rate;
      is[place] = table.shift();
    } else {
      fixed[`${place}/daily`] = rate.daily;
      fixed[`${place}/call`] = rate.call;
    }
  }
  requireUnchanged(fixed, is);
  if (sent === undefined) return own?.rates ?? [];
  const rates = rateList.read(sent.filter(({ source }) => source !== 'table')) ?? [];
  if (rates.length > 0 || own === undefined) return rates;
  throw new ProblemError('invalid-request', {
    detail: 'The body of the request is not valid.',
    errors: [{ detail: 'must have a rate of your own: delete the price if there is none', pointer: '#/rates' }],
  });
}

function showPrice({ provider, model, source, rates, table, own }: EffectivePrice): Schemas['ModelPrice'] {
  return {
    ...(own && priceFields.show(own)),
    provider,
    model,
    source,
    ...(table !== undefined && { table_model: table.model, table_match: table.match }),
    currency: 'USD',
    rates: rates.map((rate) => ({ source: rate.source, ...priceRate.show(rate) })),
  };
}
