import { Alert } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTexts } from '../shared/texts.tsx';
import { gateway } from './gateway.ts';

/** Says what the process does not do that shows this page. */
export function ModeNotice(): ReactNode {
  const { shell: texts } = useTexts();
  const { data } = useQuery({
    queryKey: ['mode'],
    queryFn: ({ signal }) => gateway.service.getReadiness({ signal }),
    // It changes only with a restart.
    staleTime: Infinity,
  });
  if (data === undefined || (data.sends_webhooks && !data.read_only)) return null;
  return (
    <Alert color="yellow" role="status" icon={<IconInfoCircle />} mb="lg">
      {data.read_only ? texts.mode.readOnly : texts.mode.noWebhooks}
    </Alert>
  );
}
