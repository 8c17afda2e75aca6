import { Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { TextLink } from '../../shared/links.tsx';

/** The name of what was changed, or its id without one, as a link to it. What is deleted, and what has no page, is no link. */
export function ResourceLink({ record }: { record: Schemas['AuditRecord'] }): ReactNode {
  const { resource_type: type, resource_id: id, operation, author } = record;
  const name = record.resource_name ?? id;
  const common = { size: 'sm', display: 'block' } as const;
  if (operation.startsWith('delete') && type !== 'invocation' && !['deleteLabel', 'deleteGate'].includes(operation)) {
    return <Plain id={id} name={name} />;
  }
  // Of somebody who has never signed in.
  if (operation === 'refuseSignIn' && author.type === 'system' && record.before === undefined)
    return <Plain id={id} name={name} />;
  switch (type) {
    case 'prompt':
      return (
        <TextLink to="/prompts/$promptId" params={{ promptId: id }} {...common}>
          {name}
        </TextLink>
      );
    case 'price': {
      const mark = id.indexOf('/');
      return (
        <TextLink to="/costs/price" search={{ provider: id.slice(0, mark), model: id.slice(mark + 1) }} {...common}>
          {name}
        </TextLink>
      );
    }
    case 'budget':
      return (
        <TextLink to="/costs/budgets/$name" params={{ name: id }} {...common}>
          {name}
        </TextLink>
      );
    case 'dataset':
      return (
        <TextLink to="/datasets/$name" params={{ name }} {...common}>
          {name}
        </TextLink>
      );
    case 'evaluation':
      return (
        <TextLink to="/evaluations/$evaluationId" params={{ evaluationId: id }} {...common}>
          {name}
        </TextLink>
      );
    case 'api-key':
      return (
        <TextLink to="/api-keys/$id/edit" params={{ id }} {...common}>
          {name}
        </TextLink>
      );
    default: {
      const to = pages.get(type);
      return to === undefined ? (
        <Plain id={id} name={name} />
      ) : (
        <TextLink to={to} params={{ id }} {...common}>
          {name}
        </TextLink>
      );
    }
  }
}

/** Pages of one resource, by the kind of the resource. */
const pages = new Map<
  string,
  '/integrations/$id' | '/invocations/$id' | '/locations/$id' | '/categories/$id' | '/products/$id' | '/people/$id'
>([
  ['integration', '/integrations/$id'],
  ['invocation', '/invocations/$id'],
  ['location', '/locations/$id'],
  ['category', '/categories/$id'],
  ['product', '/products/$id'],
  ['person', '/people/$id'],
]);

function Plain({ id, name }: { id: string; name: string }): ReactNode {
  return (
    <Text size="sm" title={id}>
      {name}
    </Text>
  );
}
