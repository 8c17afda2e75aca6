import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { ConfirmDialog } from '../../shared/confirm-dialog.tsx';
import { useNotify } from '../../shared/notify.ts';
import { useTexts } from '../../shared/texts.tsx';
import { ordersKey } from './queries.ts';

const actions = ['cancel', 'complete'] as const;

/** How an open order ends: both ways are final, so both ask first. */
export function OrderActions({ id }: { id: string }): ReactNode {
  const { detail: texts } = useTexts().orders;
  const queryClient = useQueryClient();
  const notify = useNotify();
  const [asked, setAsked] = useState<(typeof actions)[number]>();
  const end = useMutation({
    mutationFn: (action: (typeof actions)[number]) => gateway.orders[action](id),
    onSuccess: (order, action) => {
      setAsked(undefined);
      queryClient.setQueryData([...ordersKey, id], order);
      void queryClient.invalidateQueries({ queryKey: ordersKey });
      notify(texts[`${action}Done`]);
    },
  });
  return (
    <>
      {actions.map((action) => (
        <Button
          key={action}
          variant={action === 'cancel' ? 'default' : 'filled'}
          onClick={() => {
            end.reset();
            setAsked(action);
          }}
        >
          {texts[action]}
        </Button>
      ))}
      {actions.map((action) => (
        <ConfirmDialog
          key={action}
          isOpen={asked === action}
          title={texts[`${action}Title`]}
          text={texts[`${action}Text`]}
          confirm={texts[action]}
          onConfirm={() => {
            end.mutate(action);
          }}
          onClose={() => {
            setAsked(undefined);
          }}
          isPending={end.isPending}
          error={end.error}
          isDangerous={action === 'cancel'}
        />
      ))}
    </>
  );
}
