import { Stack, Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useTexts } from '../../shared/texts.tsx';

/** Says an outcome in words. Classes of status, and outcomes of later releases, stay as they are. */
export function useOutcomeText(): (outcome: string) => string {
  const words: Readonly<Record<string, string>> = useTexts().deliveries.outcomes;
  return (outcome) => words[outcome] ?? outcome;
}

/** What an error means, and what to do. */
export function OutcomeHelp({
  attempt: { error = '', certificate_names: names = [] },
}: {
  attempt: Pick<Schemas['Attempt'], 'error' | 'certificate_names'>;
}): ReactNode {
  const { outcomeHelp, certificateNames } = useTexts().deliveries;
  const help = (outcomeHelp as Readonly<Record<string, string>>)[error];
  if (help === undefined) return null;
  return (
    <Stack gap={2}>
      <Text size="sm">{help}</Text>
      {names.length > 0 && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {certificateNames} {names.join(', ')}
        </Text>
      )}
    </Stack>
  );
}
