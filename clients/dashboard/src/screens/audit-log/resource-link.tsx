import { Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { TextLink } from '../../shared/links.tsx';

/** The id of what was changed, as a link to it. What is deleted, and what has no page, is its id only. */
export function ResourceLink({ record }: { record: Schemas['AuditRecord'] }): ReactNode {
  const { resource_type: type, resource_id: id, operation } = record;
  const common = { size: 'sm', display: 'block' } as const;
  if (operation.startsWith('delete') && type !== 'invocation' && operation !== 'deleteLabel') {
    return <PlainId id={id} />;
  }
  switch (type) {
    case 'prompt':
      return (
        <TextLink to="/prompts/$promptId" params={{ promptId: id }} {...common}>
          {id}
        </TextLink>
      );
    case 'price': {
      const mark = id.indexOf('/');
      return (
        <TextLink to="/costs/price" search={{ provider: id.slice(0, mark), model: id.slice(mark + 1) }} {...common}>
          {id}
        </TextLink>
      );
    }
    case 'budget':
      return (
        <TextLink to="/costs/budgets/$name" params={{ name: id }} {...common}>
          {id}
        </TextLink>
      );
    case 'api-key':
      return (
        <TextLink to="/api-keys/$id/edit" params={{ id }} {...common}>
          {id}
        </TextLink>
      );
    default: {
      const to = pages.get(type);
      return to === undefined ? (
        <PlainId id={id} />
      ) : (
        <TextLink to={to} params={{ id }} {...common}>
          {id}
        </TextLink>
      );
    }
  }
}

/** Pages of one resource, by the kind of the resource. */
const pages = new Map<
  string,
  '/integrations/$id' | '/invocations/$id' | '/locations/$id' | '/categories/$id' | '/products/$id'
>([
  ['integration', '/integrations/$id'],
  ['invocation', '/invocations/$id'],
  ['location', '/locations/$id'],
  ['category', '/categories/$id'],
  ['product', '/products/$id'],
]);

function PlainId({ id }: { id: string }): ReactNode {
  return <Text size="sm">{id}</Text>;
}
