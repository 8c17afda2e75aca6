import type { components } from '../../../generated/types.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { answerPage } from '../../http/list-answer.ts';
import type { FiscalDay } from './fiscal-day.ts';
import type { FiscalDays } from './fiscal-days.ts';

type FiscalDayOperations = Pick<OperationHandlers, 'closeFiscalDay' | 'listFiscalDays' | 'getFiscalDay'>;

export function fiscalDayOperations(fiscalDays: FiscalDays): FiscalDayOperations {
  return {
    async closeFiscalDay({ path: { id, date }, context }) {
      return fiscalDayAnswer(await fiscalDays.close(id, date, context.traceparent));
    },
    listFiscalDays: (input) => answerPage(input, () => fiscalDays.list(input.path.id), represent),
    async getFiscalDay({ path: { id, date } }) {
      return fiscalDayAnswer(await fiscalDays.get(id, date));
    },
  };
}

function fiscalDayAnswer(day: FiscalDay): {
  status: 200;
  headers: { ETag: string };
  body: ReturnType<typeof represent>;
} {
  // A closed day never changes.
  return { status: 200, headers: { ETag: `"${day.locationId}.${day.date}"` }, body: represent(day) };
}

function represent(day: FiscalDay): components['schemas']['FiscalDay'] {
  return {
    location_id: day.locationId,
    date: day.date,
    closed_at: day.cutAt.toISOString(),
    order_count: day.orderCount,
    total: day.total,
    currency: day.currency,
    cause: day.cause,
  };
}
