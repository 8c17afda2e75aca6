import { Button, Group, Paper, Stack } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { serviceUrl } from '../../app/gateway.ts';
import { CodeBlock } from '../../shared/code-block.tsx';
import { CopyField } from '../../shared/copy.tsx';
import { useTexts } from '../../shared/texts.tsx';

/** A new key, with a request that uses it. */
export function CreatedKey({ created, onDone }: { created: Schemas['ApiKeyCreated']; onDone: () => void }): ReactNode {
  const { created: texts } = useTexts().apiKeys;
  const request = `curl ${new URL('api/v1/whoami', serviceUrl).href} \\\n  -H 'Authorization: Bearer ${created.key}'`;
  return (
    <Paper withBorder p="lg" maw={720}>
      <Stack>
        <CopyField value={created.key} label={texts.key} />
        <CodeBlock code={request} label={texts.use} />
        <Group>
          <Button onClick={onDone}>{texts.done}</Button>
        </Group>
      </Stack>
    </Paper>
  );
}
