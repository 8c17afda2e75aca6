import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { ConfirmDialog } from '../../../shared/confirm-dialog.tsx';
import { useNotify } from '../../../shared/notify.ts';
import { useTexts } from '../../../shared/texts.tsx';
import { versioned } from '../../../shared/versioned.ts';
import { budgetsKey } from './queries.ts';

/** Deletes a budget after a question. */
export function DeleteBudget({ name }: { name: string }): ReactNode {
  const { delete: texts } = useTexts().costs.budgets;
  const queryClient = useQueryClient();
  const notify = useNotify();
  const [isAsked, setAsked] = useState(false);
  const removal = useMutation({
    mutationFn: async () => {
      // The list has no ETags; a change that someone makes just now is not lost.
      const { etag: ifMatch } = await versioned(gateway.budgets.get(name));
      await gateway.budgets.delete(name, { ifMatch });
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: budgetsKey });
      setAsked(false);
      notify(texts.done(name));
    },
  });
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={texts.actionOf(name)}
        onClick={() => {
          removal.reset();
          setAsked(true);
        }}
      >
        {texts.action}
      </Button>
      <ConfirmDialog
        isOpen={isAsked}
        title={texts.title(name)}
        text={texts.text}
        confirm={texts.submit}
        onConfirm={() => {
          removal.mutate();
        }}
        onClose={() => {
          setAsked(false);
        }}
        isPending={removal.isPending}
        error={removal.error}
        isDangerous
      />
    </>
  );
}
