import { useQueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { AskButton } from '../../shared/ask-button.tsx';
import { useFormat, useOwnTexts } from '../../shared/texts.tsx';
import { people } from '../../texts/people.ts';
import { apiKeysKey } from '../api-keys/queries.ts';

/** Revokes all keys that a person made, after a question. */
export function RevokeKeys({ person: { id, name } }: { person: Schemas['Person'] }): ReactNode {
  const { revokeKeys: texts } = useOwnTexts(people);
  const format = useFormat();
  const queryClient = useQueryClient();
  return (
    <AskButton
      action={texts.action}
      size="compact-sm"
      title={texts.title(name)}
      text={texts.text}
      confirm={texts.action}
      isDangerous
      send={() => gateway.people.revokeKeys(id)}
      onDone={({ revoked }) => {
        void queryClient.invalidateQueries({ queryKey: apiKeysKey });
        return texts.done(format.number(revoked));
      }}
    />
  );
}
