import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { AskButton } from '../../shared/ask-button.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { ordersKey } from './queries.ts';

/** How an open order ends: both ways are final, so both ask first. */
export function OrderActions({ id }: { id: string }): ReactNode {
  const { detail: texts } = useTexts().orders;
  const queryClient = useQueryClient();
  return (['cancel', 'complete'] as const).map((action) => (
    <AskButton
      key={action}
      action={texts[action]}
      variant={action === 'cancel' ? 'default' : 'filled'}
      title={texts[`${action}Title`]}
      text={texts[`${action}Text`]}
      confirm={texts[action]}
      isDangerous={action === 'cancel'}
      send={() => gateway.orders[action](id)}
      onDone={(order) => {
        queryClient.setQueryData([...ordersKey, id], order);
        void queryClient.invalidateQueries({ queryKey: ordersKey });
        return texts[`${action}Done`];
      }}
    />
  ));
}
