import { Alert, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { CopyableId } from '../../shared/copy.tsx';
import { FactTable } from '../../shared/fact-table.tsx';
import { LinkButton, TextLink } from '../../shared/links.tsx';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { Time } from '../../shared/time.tsx';
import { Section } from '../../shared/section.tsx';
import { useFormat, useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { canaries } from '../../texts/canaries.ts';
import { AddToDataset } from '../datasets/add-to-dataset.tsx';
import { CallList } from './call-list.tsx';
import { ContentSection } from './content-section.tsx';
import { FailureAlert } from './failure-alert.tsx';
import { FeedbackSection } from './feedback-section.tsx';
import { InvocationStatus } from './invocation-status.tsx';
import { invocationsKey, problemName } from './queries.ts';

type Invocation = Schemas['Invocation'];

const route = getRouteApi('/invocations/$id');

/** One invocation: what was asked by whom, how it ended, what it cost, and its calls to providers. */
export function InvocationScreen(): ReactNode {
  const { invocations: texts } = useTexts();
  const { id } = route.useParams();
  const mayRead = useScope('invocations:content');
  const { data, error, refetch } = useQuery({
    queryKey: [...invocationsKey, id],
    queryFn: ({ signal }) => gateway.invocations.get(id, { signal }),
    // A record never changes, but feedback is added to it.
    staleTime: 60_000,
  });
  return (
    <Page
      title={data === undefined ? id : titleOf(data, texts.operations)}
      badge={data && <InvocationStatus status={data.status} />}
      description={<CopyableId value={id} label={texts.detail.id} withLabel />}
      breadcrumbs={[{ label: texts.title, to: '/invocations' }]}
      actions={
        data !== undefined && (
          <>
            <AddToDataset source={{ invocation: data }} />
            {data.prompt_id !== undefined && (
              <LinkButton
                to="/prompts/$promptId/playground"
                params={{ promptId: data.prompt_id }}
                search={{
                  version: data.prompt_version?.toString(),
                  provider: data.provider,
                  model: data.model,
                  invocation: data.content_kept === true && mayRead ? id : undefined,
                }}
                variant="default"
              >
                {texts.detail.playground}
              </LinkButton>
            )}
          </>
        )
      }
    >
      {error !== null && <ProblemAlert error={error} onRetry={() => void refetch()} />}
      {data !== undefined ? (
        <Stack gap="md">
          <FailureAlert invocation={data} />
          <Notice invocation={data} />
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md" style={{ alignItems: 'start' }}>
            <Facts invocation={data} />
            <Section title={texts.detail.calls}>
              {data.attempts.length === 0 ? (
                <Text c="dimmed">{data.cached ? texts.detail.fromCache : texts.detail.noCalls}</Text>
              ) : (
                <CallList invocation={data} />
              )}
            </Section>
          </SimpleGrid>
          {data.feedback !== undefined && <FeedbackSection feedback={data.feedback} />}
          <ContentSection key={data.id} invocation={data} />
        </Stack>
      ) : (
        error === null && <Skeleton height={320} />
      )}
    </Page>
  );
}

function titleOf({ prompt_slug: slug, operation }: Invocation, operations: Readonly<Record<string, string>>): string {
  return slug ?? operations[operation] ?? operation;
}

function Notice({ invocation: { status, joined } }: { invocation: Invocation }): ReactNode {
  const { notices: texts } = useTexts().invocations;
  if (joined !== undefined) {
    return (
      <Alert color="gray" icon={<IconInfoCircle />}>
        {texts.joined}{' '}
        <TextLink to="/invocations/$id" params={{ id: joined }}>
          {joined}
        </TextLink>
      </Alert>
    );
  }
  return (
    status === 'interrupted' && (
      <Alert color="yellow" icon={<IconInfoCircle />}>
        {texts.interrupted}
      </Alert>
    )
  );
}

function Facts({ invocation }: { invocation: Invocation }): ReactNode {
  const { invocations, prompts, shared } = useTexts();
  const { detail: texts, columns, filters, operations, unknown } = invocations;
  const format = useFormat();
  const { prompt_id: promptId, prompt_slug: slug, prompt_version: version, label, problem, usage, tags } = invocation;
  const { records: own } = useOwnTexts(canaries);
  const { canary, first_content_ms: firstContent, finish_reason: finishReason, latency_ms: latency } = invocation;
  const { inputTokens, outputTokens, cachedInputTokens: fromCache, reasoningTokens: reasoning } = usage ?? {};
  const input = format.tokens(inputTokens);
  const output = format.tokens(outputTokens);
  return (
    <Section title={texts.facts}>
      <FactTable
        facts={[
          { label: columns.created, value: <Time value={invocation.created_at} /> },
          {
            label: texts.operation,
            value: (operations as Record<string, string>)[invocation.operation] ?? invocation.operation,
          },
          promptId !== undefined && {
            label: columns.prompt,
            value: (
              <>
                <TextLink to="/prompts/$promptId" params={{ promptId }} size="sm" underline="always">
                  {slug ?? promptId}
                </TextLink>
                {version !== undefined && ` · v${version}`}
                {label !== undefined && ` · ${label}`}
                <br />
                <TextLink to="/invocations" search={{ prompt: promptId }} size="xs">
                  {texts.samePrompt}
                </TextLink>
              </>
            ),
          },
          invocation.evaluation_id !== undefined && {
            label: filters.evaluation,
            value: (
              <TextLink to="/evaluations/$evaluationId" params={{ evaluationId: invocation.evaluation_id }} size="sm">
                {invocation.evaluation_id}
              </TextLink>
            ),
          },
          canary !== undefined && {
            label: own.canary,
            value: (
              <TextLink to="/invocations" search={{ canary_id: canary.id }} size="sm">
                {own.arms[canary.arm] ?? canary.arm}
              </TextLink>
            ),
          },
          problem !== undefined && {
            label: texts.problem,
            value: (
              <TextLink to="/invocations" search={{ problem: problemName(problem) }} size="sm">
                {problemName(problem)}
              </TextLink>
            ),
          },
          invocation.refused_by !== undefined && {
            label: filters.refusedBy,
            value: (
              <TextLink to="/costs" size="sm">
                {invocation.refused_by}
              </TextLink>
            ),
          },
          invocation.model !== undefined && {
            label: columns.model,
            value: `${invocation.provider ?? ''} / ${invocation.model}`,
          },
          {
            label: columns.key,
            value: (
              <TextLink to="/invocations" search={{ author_id: invocation.author.id }} size="sm">
                {invocation.author.name}
              </TextLink>
            ),
          },
          latency !== undefined && {
            label: columns.latency,
            value:
              firstContent === undefined
                ? format.duration(latency)
                : texts.withFirst(format.duration(latency), format.duration(firstContent)),
          },
          usage !== undefined && {
            label: columns.tokens,
            value: prompts.playground.tokens(
              fromCache === undefined ? input : prompts.playground.ofCache(input, format.number(fromCache)),
              reasoning === undefined ? output : prompts.playground.ofReasoning(output, format.number(reasoning)),
            ),
          },
          { label: columns.cost, value: format.cost(invocation.cost) ?? unknown },
          finishReason !== undefined && {
            label: prompts.playground.facts.finish,
            value: prompts.finishReasons[finishReason] ?? finishReason,
          },
          tags !== undefined && {
            label: texts.tags,
            value: Object.entries(tags).map(([name, value]) => (
              <div key={name}>
                <TextLink to="/invocations" search={{ tag: `${name}=${value}` }} size="sm">
                  {name}={value}
                </TextLink>
              </div>
            )),
          },
          {
            label: shared.requestId,
            value: <CopyableId value={invocation.request_id} label={shared.requestId} />,
          },
          invocation.trace_id !== undefined && {
            label: texts.trace,
            value: <CopyableId value={invocation.trace_id} label={texts.trace} />,
          },
        ]}
      />
    </Section>
  );
}
