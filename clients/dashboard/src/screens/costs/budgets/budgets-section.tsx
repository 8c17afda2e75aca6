import { Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { liveStatistics } from '../../../app/query-client.ts';
import { useScope } from '../../../app/session-context.ts';
import { LinkButton } from '../../../shared/links.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import classes from './budget-card.module.css';
import { BudgetCard } from './budget-card.tsx';
import { budgetsKey, readBudgets } from './queries.ts';

/** All budgets with what is spent of them. Without one, it says what a budget is. */
export function BudgetsSection(): ReactNode {
  const { budgets: texts } = useTexts().costs;
  const canWrite = useScope('budgets:write');
  const { data, error, refetch } = useQuery({
    queryKey: [...budgetsKey, 'list'],
    queryFn: ({ signal }) => readBudgets({ signal }),
    ...liveStatistics,
  });
  return (
    <Paper withBorder p="lg" component="section" aria-label={texts.title}>
      <Stack gap="sm">
        <Group justify="space-between" gap="sm">
          <Title order={2} size="h4">
            {texts.title}
          </Title>
          {canWrite && (
            <LinkButton to="/costs/budgets/new" variant="default" size="xs">
              {texts.create}
            </LinkButton>
          )}
        </Group>
        {error !== null && <ProblemAlert error={error} onRetry={() => void refetch()} />}
        {data === undefined ? (
          error === null && <Skeleton height={120} />
        ) : data.length === 0 ? (
          <Text c="dimmed" size="sm">
            {texts.empty}
          </Text>
        ) : (
          <ul className={classes.list}>
            {data.map((budget) => (
              <BudgetCard key={budget.name} budget={budget} />
            ))}
          </ul>
        )}
      </Stack>
    </Paper>
  );
}
