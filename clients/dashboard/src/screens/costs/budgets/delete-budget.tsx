import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { AskButton } from '../../../shared/ask-button.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { versioned } from '../../../shared/versioned.ts';
import { budgetsKey } from './queries.ts';

/** Deletes a budget after a question. */
export function DeleteBudget({ name }: { name: string }): ReactNode {
  const { delete: texts } = useTexts().costs.budgets;
  const queryClient = useQueryClient();
  return (
    <AskButton
      action={texts.action}
      actionOf={texts.actionOf(name)}
      size="compact-sm"
      title={texts.title(name)}
      text={texts.text}
      confirm={texts.submit}
      isDangerous
      send={async () => {
        // The list has no ETags; a change that someone makes just now is not lost.
        const { etag: ifMatch } = await versioned(gateway.budgets.get(name));
        await gateway.budgets.delete(name, { ifMatch });
      }}
      onDone={async () => {
        await queryClient.invalidateQueries({ queryKey: budgetsKey });
        return texts.done(name);
      }}
    />
  );
}
