import { Alert, Anchor, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { serviceUrl } from '../../app/gateway.ts';
import { TextLink } from '../../shared/links.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { problemName } from './queries.ts';

/** Why an invocation failed: in a sentence, in the provider's words, and what to do. */
export function FailureAlert({ invocation }: { invocation: Schemas['Invocation'] }): ReactNode {
  const { failure: texts } = useTexts().invocations;
  const { problem, refused_by: budget, attempts } = invocation;
  if (invocation.status !== 'failed' || problem === undefined) return null;
  const name = problemName(problem);
  const last = attempts.findLast((attempt) => attempt.problem === problem);
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title={texts.title}>
      <Text size="sm">{last?.detail ?? (texts.reasons as Record<string, string>)[name] ?? name}</Text>
      {last?.provider_message !== undefined && last.provider_status !== undefined && (
        <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
          {texts.words(last.provider)} <q>{last.provider_message}</q>
        </Text>
      )}
      <Text size="sm" mt={4} component="div">
        {budget !== undefined && (
          <>
            <TextLink to="/costs/budgets/$name" params={{ name: budget }} size="sm" underline="always">
              {texts.budget(budget)}
            </TextLink>
            {' · '}
          </>
        )}
        <Anchor
          href={new URL(`docs#/problems/${name}`, serviceUrl).href}
          target="_blank"
          rel="noopener noreferrer"
          size="sm"
          underline="always"
        >
          {texts.remedy}
        </Anchor>
      </Text>
    </Alert>
  );
}
