import { Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { tagTexts } from './limit-fields.ts';

/** The limits of a key in one line. */
export function LimitList({ limits }: { limits: Schemas['ApiKeyLimits'] }): ReactNode {
  const { limits: texts } = useTexts().apiKeys;
  const format = useFormat();
  const { prompts, locations, models = [], tags = {} } = limits;
  const { max_output_tokens: tokens, requests_per_minute: requests } = limits;
  const parts = [
    ...(prompts === undefined ? [] : [texts.promptCount(prompts.length)]),
    ...(locations === undefined ? [] : [texts.locationCount(locations.length)]),
    ...models,
    ...(tokens === undefined ? [] : [texts.tokenCount(format.number(tokens))]),
    ...(requests === undefined ? [] : [texts.requestCount(format.number(requests))]),
    ...tagTexts(tags),
  ];
  return (
    <Text size="xs" c="dimmed" lineClamp={3} title={format.list(parts)} style={{ overflowWrap: 'anywhere' }}>
      {texts.only(format.list(parts))}
    </Text>
  );
}
