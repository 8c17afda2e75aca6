import { Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormat, useTexts } from '../../shared/texts.tsx';

/** Scopes that are named before the others are counted. */
const named = 2;

/** The scopes of a key in one line; the others on hover and focus. */
export function ScopeList({ scopes }: { scopes: readonly string[] }): ReactNode {
  const { apiKeys: texts } = useTexts();
  const format = useFormat();
  const isAll = Object.keys(texts.scopes).every((scope) => scopes.includes(scope));
  const others = scopes.slice(named);
  if (!isAll && others.length === 0) return <Text size="sm">{format.list(scopes)}</Text>;
  return (
    <Tooltip label={format.list(scopes)}>
      <Text size="sm" component="span" tabIndex={0}>
        {isAll ? texts.allScopes : `${scopes.slice(0, named).join(', ')} ${texts.moreScopes(others.length)}`}
      </Text>
    </Tooltip>
  );
}
