import { Alert, Anchor, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { serviceUrl } from '../../app/gateway.ts';
import { TextLink } from '../../shared/links.tsx';
import { failureWords } from '../../shared/problem-alert.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { problemName } from './queries.ts';

/** Why an invocation failed: in a sentence, in the provider's words, and what to do. Each call that failed says why. */
export function FailureAlert({ invocation }: { invocation: Schemas['Invocation'] }): ReactNode {
  const { invocations, shared } = useTexts();
  const { failure: texts } = invocations;
  const { problem, refused_by: budget, attempts } = invocation;
  if (invocation.status !== 'failed' || problem === undefined) return null;
  const name = problemName(problem);
  const failed = attempts.filter(({ detail }) => detail !== undefined);
  // A call is repeated, and most often fails in the same words.
  const groups = [
    ...Map.groupBy(failed, (attempt) =>
      JSON.stringify([attempt.provider, attempt.model, attempt.detail, attempt.provider_message]),
    ).values(),
  ];
  const isOfCall = attempts.some((attempt) => attempt.problem === problem && attempt.detail !== undefined);
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title={texts.title}>
      {!isOfCall && <Text size="sm">{(texts.reasons as Record<string, string>)[name] ?? name}</Text>}
      {groups.map(([attempt, ...alike], index) => (
        <Text key={index} size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
          {failed.length > 1 && (
            <b>
              {attempt?.provider} / {attempt?.model}
              {alike.length > 0 && `, ${texts.calls(1 + alike.length)}`}:{' '}
            </b>
          )}
          {attempt && failureWords(attempt, shared)}
          {attempt?.provider_message !== undefined && attempt.provider_status !== undefined && (
            <>
              <br />
              {texts.words(attempt.provider)} <q>{attempt.provider_message}</q>
            </>
          )}
        </Text>
      ))}
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
