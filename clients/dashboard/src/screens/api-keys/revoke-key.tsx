import { Checkbox, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useSession } from '../../app/session-context.ts';
import { AskButton } from '../../shared/ask-button.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { apiKeysKey } from './queries.ts';

/** The button that revokes a key, and its question. */
export function RevokeKey({ apiKey: { id, name } }: { apiKey: Schemas['ApiKey'] }): ReactNode {
  const { revoke: texts } = useTexts().apiKeys;
  const format = useFormat();
  const queryClient = useQueryClient();
  const { key: current } = useSession();
  const [withDescendants, setWithDescendants] = useState(false);
  return (
    <AskButton
      action={texts.action}
      actionOf={texts.actionOf(name)}
      size="compact-sm"
      title={texts.title(name)}
      text={
        <Stack gap="xs">
          <Text>{texts.text}</Text>
          {id === current.id && <Text fw={500}>{texts.own}</Text>}
        </Stack>
      }
      confirm={texts.submit}
      isDangerous
      send={() => gateway.apiKeys.revoke(id, { descendants: withDescendants ? 'revoke' : 'keep' })}
      onDone={({ revoked_descendants: revoked, active_descendants: active }) => {
        void queryClient.invalidateQueries({ queryKey: apiKeysKey });
        const done = revoked > 0 ? texts.doneWithDescendants(name, format.number(revoked)) : texts.done(name);
        return active > 0 ? `${done} ${texts.remaining(format.number(active))}` : done;
      }}
    >
      <Checkbox
        label={texts.descendants}
        checked={withDescendants}
        onChange={(event) => {
          setWithDescendants(event.currentTarget.checked);
        }}
      />
    </AskButton>
  );
}
