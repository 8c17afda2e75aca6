import { Group, Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { CopyableId } from '../../shared/copy.tsx';
import { failureWords } from '../../shared/problem-alert.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import classes from './call-list.module.css';
import { InvocationStatus } from './invocation-status.tsx';
import { problemName } from './queries.ts';

type Call = Schemas['Invocation']['attempts'][number];

/** The calls to providers in their order, each with a bar that shows when it was, in the time of the invocation. */
export function CallList({ invocation }: { invocation: Schemas['Invocation'] }): ReactNode {
  const { created_at, attempts } = invocation;
  const offsetOf = ({ started_at }: Call): number => Math.max(0, Date.parse(started_at) - Date.parse(created_at));
  const ends = attempts.map((call) => offsetOf(call) + (call.latency_ms ?? 0));
  const whole = Math.max(1, invocation.latency_ms ?? 0, ...ends);
  return (
    <ol className={classes.calls}>
      {attempts.map((call, index) => (
        <li key={index}>
          <Group gap="xs" justify="space-between" wrap="wrap">
            <Text span size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
              {call.provider} / {call.model}
            </Text>
            <InvocationStatus status={call.status} />
          </Group>
          <div className={classes.track} aria-hidden>
            <div
              className={classes.bar}
              data-status={call.status}
              style={{
                marginInlineStart: `${Math.min(99, (offsetOf(call) / whole) * 100)}%`,
                width: `${Math.min(1 - Math.min(0.99, offsetOf(call) / whole), (call.latency_ms ?? 0) / whole) * 100}%`,
              }}
            />
          </div>
          <CallFacts call={call} offset={offsetOf(call)} />
        </li>
      ))}
    </ol>
  );
}

function CallFacts({ call, offset }: { call: Call; offset: number }): ReactNode {
  const { invocations, prompts, shared } = useTexts();
  const { call: texts } = invocations;
  const format = useFormat();
  const { problem, provider_code: code, latency_ms: latency, usage, usage_source: source, answer_id: answerId } = call;
  const facts = [
    problem !== undefined && problemName(problem),
    code,
    texts.after(format.duration(offset)),
    latency !== undefined && texts.took(format.duration(latency)),
    usage !== undefined &&
      prompts.playground.tokens(format.tokens(usage.inputTokens), format.tokens(usage.outputTokens)),
    source !== undefined && texts.sources[source],
    call.status !== 'failed' && (format.cost(call.cost) ?? prompts.playground.unknownCost),
    call.answer_model !== undefined && call.answer_model !== call.model && texts.answeredBy(call.answer_model),
  ];
  return (
    <Text size="xs" c="dimmed" component="div" style={{ overflowWrap: 'anywhere' }}>
      {call.detail !== undefined && (
        <Text size="sm" c="var(--mantine-color-text)">
          {failureWords(call, shared)}{' '}
          {call.provider_status !== undefined && call.provider_message !== undefined && <q>{call.provider_message}</q>}
        </Text>
      )}
      {facts.filter((fact) => typeof fact === 'string' && fact !== '').join(' · ')}
      {answerId !== undefined && (
        <div>
          <CopyableId value={answerId} label={texts.answerId} withLabel />
        </div>
      )}
    </Text>
  );
}
