import type { OperationHandlers } from '../../http/operation.ts';
import { answerPage } from '../../http/list-answer.ts';
import { fiscalDayFields, type FiscalDay } from './fiscal-day.ts';
import type { FiscalDays } from './fiscal-days.ts';

type FiscalDayOperations = Pick<OperationHandlers, 'closeFiscalDay' | 'listFiscalDays' | 'getFiscalDay'>;

export function fiscalDayOperations(fiscalDays: FiscalDays): FiscalDayOperations {
  return {
    async closeFiscalDay({ path: { id, date }, context }) {
      return fiscalDayAnswer(await fiscalDays.close(id, date, context.traceparent));
    },
    listFiscalDays: (input) => answerPage(input, () => fiscalDays.list(input.path.id), fiscalDayFields.show),
    async getFiscalDay({ path: { id, date } }) {
      return fiscalDayAnswer(await fiscalDays.get(id, date));
    },
  };
}

function fiscalDayAnswer(day: FiscalDay): {
  status: 200;
  headers: { ETag: string };
  body: ReturnType<typeof fiscalDayFields.show>;
} {
  // A closed day never changes.
  return { status: 200, headers: { ETag: `"${day.locationId}.${day.date}"` }, body: fiscalDayFields.show(day) };
}
