import { Alert, List, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useOwnTexts } from '../../../shared/texts.tsx';
import { evaluations } from '../../../texts/evaluations.ts';

/** Why nothing can be asked, with the cases. */
export function Refusal({ refusal: { mistakes } }: { refusal: Schemas['EvaluationRefusal'] }): ReactNode {
  const texts = useOwnTexts(evaluations);
  return (
    <Alert color="red" role="alert" title={texts.page.refused} icon={<IconAlertTriangle />}>
      <Text size="sm" mb={4}>
        {texts.page.refusedText}
      </Text>
      <List size="sm" style={{ overflowWrap: 'anywhere' }}>
        {mistakes.map(({ case: id, side, detail }, index) => {
          const place = [
            id === undefined ? '' : texts.page.refusedCase(id),
            side === undefined ? '' : (texts.sides[side] ?? side),
          ];
          const prefix = place.filter((part) => part !== '').join(', ');
          return (
            <List.Item key={index}>
              {prefix === '' ? '' : `${prefix}: `}
              {detail}
            </List.Item>
          );
        })}
      </List>
    </Alert>
  );
}
