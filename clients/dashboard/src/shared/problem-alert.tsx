import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import {
  AnswerError,
  AuthenticationError,
  ConnectionError,
  GatewayError,
  ProblemError,
  TimeoutError,
} from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import type { Texts } from '../texts/en.ts';
import { CopyableId } from './copy.tsx';
import { TextLink } from './links.tsx';
import { useTexts } from './texts.tsx';

/**
 * Shows why a call failed: title, detail, each mistake with its place, and the request id.
 * @param error what the call threw
 * @param onRetry shows a button that tries again, unless the same call would fail again
 */
export function ProblemAlert({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }): ReactNode {
  const { shared } = useTexts();
  const { title, detail } = describeError(error, shared);
  const mistakes = error instanceof ProblemError ? (error.problem.errors ?? []) : [];
  return (
    <Alert color="red" role="alert" title={title} icon={<IconAlertCircle />}>
      <Stack gap="xs" style={{ overflowWrap: 'anywhere' }}>
        <Text size="sm">{detail}</Text>
        {error instanceof ProblemError && <ProviderWords said={error.problem} />}
        {error instanceof GatewayError && error.mayHaveBeenApplied && <Aftermath error={error} />}
        {mistakes.length > 0 && (
          <List size="sm" aria-label={shared.problem.fields}>
            {mistakes.map(({ pointer, parameter, header, detail: mistake }, index) => (
              <List.Item key={index}>
                {[pointer?.replace(/^#\/?/, ''), parameter, header].find(
                  (place) => place !== undefined && place !== '',
                )}{' '}
                {mistake}
              </List.Item>
            ))}
          </List>
        )}
        <Group gap="sm">
          {onRetry !== undefined && isOpen(error) && (
            <Button size="compact-sm" variant="default" onClick={onRetry}>
              {shared.retry}
            </Button>
          )}
          {error instanceof AnswerError && error.requestId !== undefined && (
            <CopyableId value={error.requestId} label={shared.requestId} withLabel />
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

/** What only calls a model: it changes nothing, but it can cost something. */
const modelCalls = new Set<string>(['prompts.invoke', 'prompts.stream', 'providers.test']);

/** What a failed call may have done nevertheless. */
function Aftermath({ error }: { error: GatewayError }): ReactNode {
  const { problem } = useTexts().shared;
  if (!modelCalls.has(error.operation)) return <Text size="sm">{problem.mayHaveBeenApplied}</Text>;
  if (error instanceof ProblemError) {
    const isBilled = error.problem.attempts?.some((attempt) => attempt.may_be_billed) ?? true;
    return isBilled && <Text size="sm">{problem.mayHaveBeenBilled}</Text>;
  }
  return (
    <Text size="sm">
      {problem.mayHaveBeenCalled}{' '}
      <TextLink to="/invocations" size="sm" underline="always">
        {problem.invocations}
      </TextLink>
    </Text>
  );
}

/** Whether the same call can succeed later. What is missing or not allowed stays so. */
function isOpen(error: unknown): boolean {
  if (!(error instanceof ProblemError) || error instanceof AuthenticationError) return true;
  return error.status >= 500 || [408, 409, 425, 429].includes(error.status);
}

/** What a provider said about its failure. */
export function ProviderWords({
  said: { detail, provider_message: words },
}: {
  said: { readonly detail: string; readonly provider_message?: string };
}): ReactNode {
  const { problem } = useTexts().shared;
  if (words === undefined || detail.includes(words)) return null;
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {problem.providerSays} <q>{words}</q>
    </Text>
  );
}

/** Title and detail of a problem in the chosen language, if it has them. Otherwise the service's own words are shown. */
export function knownProblem(type: string, { problem }: Texts['shared']): { title?: string; detail?: string } {
  return problem.known[type.replace('urn:prompt-gateway:problem:', '')] ?? {};
}

/** Problems whose exact cause only the service's own words have. */
const explained = new Set(['provider-failed', 'provider-bad-answer']);

/** Why a call to a provider failed: in the chosen language, if it has words for the problem. */
export function failureWords(
  failure: { problem?: string | undefined; detail?: string | undefined; provider_status?: number | undefined },
  shared: Texts['shared'],
): string | undefined {
  const { problem = '', detail, provider_status: code } = failure;
  const known = knownProblem(problem, shared);
  if (known.title === undefined || detail === undefined) return detail;
  const status = code === undefined ? '' : ` (${shared.problem.status(code)})`;
  const isExplained = explained.has(problem.replace('urn:prompt-gateway:problem:', ''));
  return `${known.title}${status}. ${isExplained ? detail : (known.detail ?? '')}`.trim();
}

/** Title and detail of an error, for people. */
export function describeError(error: unknown, shared: Texts['shared']): { title: string; detail: string } {
  const { problem } = shared;
  // The sign-in dialog was there; what is left is to repeat what was refused.
  if (error instanceof AuthenticationError) return { title: problem.sessionEnded, detail: problem.sessionEndedDetail };
  if (error instanceof ProblemError) return { ...error.problem, ...knownProblem(error.problem.type, shared) };
  if (error instanceof ConnectionError) return { title: problem.connection, detail: problem.connectionDetail };
  if (error instanceof TimeoutError) return { title: problem.timeout, detail: problem.timeoutDetail };
  if (error instanceof AnswerError) {
    return { title: problem.unexpected, detail: problem.unexpectedDetail(error.status) };
  }
  return { title: problem.unknown, detail: error instanceof Error ? error.message : String(error) };
}
