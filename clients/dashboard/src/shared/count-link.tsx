import type { ReactNode } from 'react';
import { useScope } from '../app/session-context.ts';
import { TextLink } from './links.tsx';
import { useFormat } from './texts.tsx';

/** Lists that numbers lead to, with the scope that their reader needs. */
const scopes = { '/invocations': 'invocations:read', '/deliveries': 'integrations:read' } as const;

/** A number that leads to the list of exactly what it counts; text if there is nothing, or the key may not read it. */
export function CountLink({
  count,
  to,
  search,
  children,
}: {
  count: number;
  to: keyof typeof scopes;
  /** Filters of the list, with the span of time. */
  search: Readonly<Record<string, string>>;
  /** The number with words; only the number by default. */
  children?: ReactNode;
}): ReactNode {
  const canRead = useScope(scopes[to]);
  const format = useFormat();
  const text = children ?? format.number(count);
  if (!canRead || count === 0) return text;
  return (
    <TextLink to={to} search={search} inherit underline="always">
      {text}
    </TextLink>
  );
}
