import { Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useSession } from '../../app/session-context.ts';
import { AskButton } from '../../shared/ask-button.tsx';
import { useOwnTexts } from '../../shared/texts.tsx';
import { people } from '../../texts/people.ts';
import { peopleKey } from './queries.ts';

type Action = 'signOut' | 'disable' | 'enable';

/** Signs a person out, and disables or enables one, each after a question. */
export function PersonActions({ person: { id, name, disabled } }: { person: Schemas['Person'] }): ReactNode {
  const texts = useOwnTexts(people);
  const queryClient = useQueryClient();
  const { key: current } = useSession();
  const isOwn = id === current.id;
  // Somebody who is disabled has no session, and no person can disable themselves.
  const actions: readonly Action[] = disabled ? ['enable'] : isOwn ? ['signOut'] : ['signOut', 'disable'];
  return actions.map((action) => (
    <AskButton
      key={action}
      action={texts[action].action}
      title={texts[action].title(name)}
      text={
        <Stack gap="xs">
          <Text>{texts[action].text}</Text>
          {isOwn && <Text fw={500}>{texts.signOut.own}</Text>}
        </Stack>
      }
      confirm={texts[action].action}
      isDangerous={action === 'disable'}
      send={() =>
        action === 'signOut'
          ? gateway.people.signOut(id)
          : gateway.people.update(id, { disabled: action === 'disable' })
      }
      onDone={(changed) => {
        queryClient.setQueryData([...peopleKey, id], changed);
        void queryClient.invalidateQueries({ queryKey: peopleKey });
        return texts[action].done(name);
      }}
    />
  ));
}
