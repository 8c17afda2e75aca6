import { Code } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import type { Format } from '../../shared/format.ts';
import { useFormat, useOwnTexts } from '../../shared/texts.tsx';
import { useRoleNames } from '../../shared/role-names.ts';
import { useLocations } from '../../shared/use-locations.ts';
import { auditLog } from '../../texts/audit-log.ts';
import { LimitList } from '../api-keys/limit-list.tsx';
import { BudgetScope } from '../costs/budgets/budget-scope.tsx';
import { useCategories } from '../products/use-categories.ts';

/** Characters of a value that are shown; the whole value is shown on hover. */
const shownLength = 80;

type Record_ = Schemas['AuditRecord'];

/** The value of a member, as people say it: amounts with their currency, names in place of ids. Others are shown as JSON. */
export function ChangedValue({ record, name, value }: { record: Record_; name: string; value: unknown }): ReactNode {
  const format = useFormat();
  const { perMillion, refusals } = useOwnTexts(auditLog);
  const roleNames = useRoleNames();
  if (record.cut?.includes(name) === true) return <Json value={value} text={(value as { start: string }).start} />;
  switch (`${record.resource_type}.${name}`) {
    case 'budget.scope':
      return <BudgetScope scope={value as Schemas['BudgetScope']} />;
    case 'budget.limit':
      return format.cost(value as Schemas['Cost']);
    case 'api-key.limits':
      return <LimitList limits={value as Schemas['ApiKeyLimits']} />;
    case 'person.roles':
      return roleNames(value as string[]);
    case 'person.refused':
      return (refusals as Readonly<Record<string, string>>)[String(value)] ?? String(value);
    case 'integration.location_ids':
    case 'product.location_id':
    case 'category.location_id':
      return <LocationNames ids={[value].flat() as string[]} />;
    case 'product.category_id':
      return <CategoryName id={String(value)} />;
    case 'product.price':
      if (record.currency !== undefined) return format.money(Number(value), record.currency);
      break;
    case 'price.rates':
      return (value as Schemas['PriceRate'][]).map((rate, index) => (
        <div key={index}>{rateText(rate, format, perMillion)}</div>
      ));
  }
  return <Json value={value} text={typeof value === 'string' ? value : JSON.stringify(value)} />;
}

function rateText(
  { input, output, from }: Pick<Schemas['PriceRate'], 'input' | 'output' | 'from'>,
  format: Format,
  perMillion: (input: string, output: string) => string,
): string {
  const amount = (value: string | null | undefined): string =>
    format.cost(value === null || value === undefined ? undefined : { amount: value }) ?? '?';
  const since = from === undefined ? '' : `${format.dateTime(from)}: `;
  return since + perMillion(amount(input), amount(output));
}

function LocationNames({ ids }: { ids: readonly string[] }): ReactNode {
  const format = useFormat();
  const { nameOf } = useLocations();
  return format.list(ids.map(nameOf));
}

function CategoryName({ id }: { id: string }): ReactNode {
  return useCategories(undefined).data?.find((category) => category.id === id)?.name ?? id;
}

function Json({ value, text }: { value: unknown; text: string }): ReactNode {
  const whole = typeof value === 'string' ? value : JSON.stringify(value);
  return <Code title={whole}>{text.length > shownLength ? `${text.slice(0, shownLength)}…` : text}</Code>;
}
