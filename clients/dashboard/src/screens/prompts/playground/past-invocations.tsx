import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { describeError } from '../../../shared/problem-alert.tsx';
import { StatusBadge, type Tone } from '../../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import type { Invocation } from '../workspace/use-invocations.ts';
import { saidBy } from '../content/said-by.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import classes from './playground.module.css';

const tones: Record<Invocation['outcome']['kind'], Tone> = { answered: 'ok', failed: 'danger', canceled: 'neutral' };

/** The invocations of this tab of the browser; one click shows one again, with those that began together with it. */
export function PastInvocations({
  shown,
  onShow,
}: {
  /** The group that is shown. */
  shown: number | undefined;
  onShow: (group: number) => void;
}): ReactNode {
  const { playground: texts } = useTexts().prompts;
  const format = useFormat();
  const { past } = useWorkspace().invocations;
  return (
    <Stack gap="xs" component="section" aria-label={texts.past}>
      <Text fw={600} size="sm">
        {texts.past}
      </Text>
      <ol className={classes.past}>
        {past.map((invocation) => {
          const { id, group, startedAt, elapsed, outcome } = invocation;
          return (
            <li key={id}>
              <button
                type="button"
                className={classes.entry}
                aria-current={group === shown || undefined}
                onClick={() => {
                  onShow(group);
                }}
              >
                <span className={classes.time}>{format.time(new Date(startedAt).toISOString())}</span>
                <Summary invocation={invocation} />
                <span className={classes.time}>{format.duration(elapsed)}</span>
                <StatusBadge tone={tones[outcome.kind]}>{texts.outcomes[outcome.kind]}</StatusBadge>
              </button>
            </li>
          );
        })}
      </ol>
    </Stack>
  );
}

function Summary({ invocation: { outcome, request } }: { invocation: Invocation }): ReactNode {
  const { shared } = useTexts();
  switch (outcome.kind) {
    case 'answered': {
      const { result } = outcome;
      const { tool_calls: toolCalls = [] } = result;
      return <span>{saidBy(result).slice(0, 120) || toolCalls.map(({ name }) => name).join(', ')}</span>;
    }
    case 'failed':
      return <span>{describeError(outcome.error, shared).title}</span>;
    case 'canceled':
      return <span>{outcome.soFar.text.slice(0, 120) || (request.body.provider ?? shared.none)}</span>;
  }
}
