import { Alert, Stack } from '@mantine/core';
import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { Time } from '../../shared/time.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { useWaitingCount } from './integration-health.tsx';

/** What needs attention: paused, disabled, failing, unsigned. */
export function IntegrationNotices({ integration }: { integration: Schemas['Integration'] }): ReactNode {
  const { notices: texts } = useTexts().integrations;
  const count = useWaitingCount(integration);
  const { status, disabled_reason, warning, retrying_until, signed, secret_rotation } = integration;
  const disabled =
    disabled_reason === 'gone' ? texts.gone : disabled_reason === 'failing' ? texts.failing : texts.disabled;
  return (
    <Stack gap="xs">
      {status === 'paused' && (
        <Alert color="gray" icon={<IconInfoCircle />}>
          {texts.paused}
        </Alert>
      )}
      {status === 'disabled' && (
        <Alert color="red" icon={<IconAlertTriangle />}>
          {disabled}
        </Alert>
      )}
      {warning !== undefined && (
        <Alert color="yellow" icon={<IconAlertTriangle />}>
          {warning.failing_since === undefined ? (
            (texts.known[warning.type] ?? warning.detail)
          ) : (
            <>
              {texts.failingSince} <Time value={warning.failing_since} isDistant />.
            </>
          )}{' '}
          {warning.disables_at !== undefined && (
            <>
              {texts.disablesAt} <Time value={warning.disables_at} isDistant />.
            </>
          )}
        </Alert>
      )}
      {status === 'active' && retrying_until !== undefined && (
        <Alert color="yellow" icon={<IconAlertTriangle />}>
          {texts.waits} <Time value={retrying_until} isDistant />. {count !== '0' && texts.probe(count)}
        </Alert>
      )}
      {!signed && secret_rotation === undefined && (
        <Alert color="yellow" icon={<IconAlertTriangle />}>
          {texts.unsigned}
        </Alert>
      )}
    </Stack>
  );
}
