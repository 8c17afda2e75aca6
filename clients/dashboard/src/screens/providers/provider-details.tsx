import { Stack, Text, Title } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { CodeBlock } from '../../shared/code-block.tsx';
import { CopyableId } from '../../shared/copy.tsx';
import { FactTable } from '../../shared/fact-table.tsx';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { envLines } from './env-lines.ts';
import { ProviderHealth } from './provider-health.tsx';
import classes from './providers.module.css';

/** One provider: its models, its settings, and the lines of `.env` that configure it. */
export function ProviderDetails({ provider }: { provider: Schemas['Provider'] }): ReactNode {
  const { providers: texts } = useTexts();
  const { id, name, defaultModel, models, settings } = provider;
  const lines = envLines(settings, texts.optionalComment);
  return (
    <Stack gap="md">
      <FactTable
        facts={[
          { label: texts.id, value: <CopyableId value={id} label={texts.id} /> },
          { label: texts.defaultModel, value: <CopyableId value={defaultModel} label={texts.defaultModel} /> },
        ]}
      />
      {provider.configured && <ProviderHealth provider={provider} />}
      <Stack gap={6}>
        <Title order={4}>{texts.models}</Title>
        <ul className={classes.models}>
          {models.map((model) => (
            <li key={model} className={classes.model}>
              {model}
            </li>
          ))}
        </ul>
      </Stack>
      <Stack gap={4}>
        <Title order={4}>{texts.settings}</Title>
        {settings.length === 0 ? (
          <Text size="sm" c="dimmed">
            {texts.noSettings}
          </Text>
        ) : (
          <ul className={classes.settings}>
            {settings.map(({ name: variable, required, set, description }) => (
              <li key={variable} className={classes.setting}>
                <span className={classes.variable}>{variable}</span>
                <StatusBadge tone={set ? 'ok' : required ? 'warning' : 'neutral'}>
                  {set ? texts.set : required ? texts.required : texts.optional}
                </StatusBadge>
                <span className={classes.purpose}>{description}</span>
              </li>
            ))}
          </ul>
        )}
      </Stack>
      {lines !== undefined && (
        <Stack gap={6}>
          <Text size="sm" c="dimmed">
            {texts.snippetText}
          </Text>
          <CodeBlock code={lines} label={texts.snippet(name)} />
        </Stack>
      )}
    </Stack>
  );
}
