import { Stack } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { CopyField } from '../../shared/copy.tsx';
import { useTexts } from '../../shared/texts.tsx';

/** A secret that the service has just created, in both forms. It is shown only once. */
export function IssuedSecret({ secret }: { secret: Schemas['IssuedSecret'] }): ReactNode {
  const { issued: texts } = useTexts().integrations;
  return (
    <Stack>
      <CopyField value={secret.value} label={texts.value} description={texts.valueDescription} />
      <CopyField value={secret.standard_webhooks} label={texts.standard} description={texts.standardDescription} />
    </Stack>
  );
}
