import { Button, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useSession } from '../../app/session-context.ts';
import { ConfirmDialog } from '../../shared/confirm-dialog.tsx';
import { useNotify } from '../../shared/notify.ts';
import { useOwnTexts } from '../../shared/texts.tsx';
import { people } from '../../texts/people.ts';
import { peopleKey } from './queries.ts';

type Action = 'signOut' | 'disable' | 'enable';

/** Signs a person out, and disables or enables one, each after a question. */
export function PersonActions({ person: { id, name, disabled } }: { person: Schemas['Person'] }): ReactNode {
  const texts = useOwnTexts(people);
  const queryClient = useQueryClient();
  const notify = useNotify();
  const { key: current } = useSession();
  const [asked, setAsked] = useState<Action>();
  const act = useMutation({
    mutationFn: (action: Action) =>
      action === 'signOut' ? gateway.people.signOut(id) : gateway.people.update(id, { disabled: action === 'disable' }),
    onSuccess: (changed, action) => {
      setAsked(undefined);
      queryClient.setQueryData([...peopleKey, id], changed);
      void queryClient.invalidateQueries({ queryKey: peopleKey });
      notify(texts[action].done(name));
    },
  });
  const isOwn = id === current.id;
  // Somebody who is disabled has no session, and nobody can disable the own person.
  const actions: readonly Action[] = disabled ? ['enable'] : isOwn ? ['signOut'] : ['signOut', 'disable'];
  return (
    <>
      {actions.map((action) => (
        <Button
          key={action}
          variant="default"
          onClick={() => {
            act.reset();
            setAsked(action);
          }}
        >
          {texts[action].action}
        </Button>
      ))}
      {(['signOut', 'disable', 'enable'] as const).map((action) => (
        <ConfirmDialog
          key={action}
          isOpen={asked === action}
          title={texts[action].title(name)}
          text={
            <Stack gap="xs">
              <Text>{texts[action].text}</Text>
              {isOwn && <Text fw={500}>{texts.signOut.own}</Text>}
            </Stack>
          }
          confirm={texts[action].action}
          isDangerous={action === 'disable'}
          isPending={act.isPending}
          error={act.error}
          onConfirm={() => {
            act.mutate(action);
          }}
          onClose={() => {
            setAsked(undefined);
          }}
        />
      ))}
    </>
  );
}
