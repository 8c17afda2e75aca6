import type { ReactNode } from 'react';
import { useSession } from '../../app/session-context.ts';
import { TextLink } from '../../shared/links.tsx';
import { useTexts } from '../../shared/texts.tsx';

/** What events are about, by the first word of their types. The target of a test event is its integration. */
const targets = {
  ORDER: { to: '/orders/$id', scope: 'orders:read' },
  PRODUCT: { to: '/products/$id', scope: 'catalog:read' },
  CATEGORY: { to: '/categories/$id', scope: 'catalog:read' },
  FISCAL: { to: '/locations/$id', scope: 'catalog:read' },
} as const;

/** A link to what an event is about. Nothing if the key may not see it. */
export function TargetLink({ eventType, id }: { eventType: string; id: string }): ReactNode {
  const { targets: texts } = useTexts().deliveries;
  const { scopes } = useSession().key;
  const [kind] = eventType.split('_') as [keyof typeof targets];
  if (!Object.hasOwn(targets, kind)) return null;
  const { to, scope } = targets[kind];
  if (!scopes.includes(scope)) return null;
  return (
    <TextLink to={to} params={{ id }} size="xs">
      {texts[kind]}
    </TextLink>
  );
}
