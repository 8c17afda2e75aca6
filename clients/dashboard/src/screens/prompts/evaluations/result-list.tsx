import { Button, Center, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconClockOff, IconLock } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { ProblemError } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { useSeesCases } from '../../../app/session-context.ts';
import { EmptyState } from '../../../shared/empty-state.tsx';
import { LinkButton } from '../../../shared/links.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useFormat, useOwnTexts } from '../../../shared/texts.tsx';
import { evaluations } from '../../../texts/evaluations.ts';
import { CaseRow } from './case-row.tsx';
import type { Evaluation } from './queries.ts';
import { outcomes, useResults, type Outcome } from './results.ts';

const route = getRouteApi('/prompts/$promptId/evaluations/$evaluationId');
/** Cases that are shown at first, and with each further step. */
const step = 20;

/** How many cases went so, if the verdict says it. */
type Counts = Readonly<Partial<Record<Outcome, number>>>;

/** The cases, those first that matter most. Each count leads to its cases. */
export function ResultList({ evaluation }: { evaluation: Evaluation }): ReactNode {
  const { results: texts } = useOwnTexts(evaluations);
  const { outcome: asked } = route.useSearch();
  const counts = countsOf(evaluation);
  const names = outcomes.filter((name) => name in counts);
  const first = names.find((name) => (counts[name] ?? 0) > 0 && name !== 'same' && name !== 'passed');
  const shown = asked === undefined ? first : asked === 'all' ? undefined : asked;
  const seesCases = useSeesCases();
  return (
    <Stack gap="sm" component="section" aria-label={texts.title}>
      <Title order={2} size="h4">
        {texts.title}
      </Title>
      {seesCases ? (
        <>
          <Tabs evaluation={evaluation} counts={counts} names={names} shown={shown} />
          <Results key={shown ?? ''} evaluation={evaluation} outcome={shown} />
        </>
      ) : (
        <EmptyState icon={IconLock} title={texts.hidden} text={texts.hiddenText} />
      )}
    </Stack>
  );
}

function countsOf({ verdict, baseline }: Evaluation): Counts {
  if (verdict === undefined) {
    const names =
      baseline === undefined
        ? (['failed', 'passed', 'error'] as const)
        : (['regressed', 'improved', 'same', 'error'] as const);
    return Object.fromEntries(names.map((name) => [name, undefined]));
  }
  const { units, errors, passed, regressed, improved } = verdict;
  if (regressed === undefined || improved === undefined) {
    return { failed: units - errors - passed, passed, error: errors };
  }
  return { regressed, improved, same: units - errors - regressed - improved, error: errors };
}

function Tabs({
  evaluation,
  counts,
  names,
  shown,
}: {
  evaluation: Evaluation;
  counts: Counts;
  names: readonly Outcome[];
  shown: Outcome | undefined;
}): ReactNode {
  const { results: texts } = useOwnTexts(evaluations);
  const format = useFormat();
  return (
    <Group gap="xs" role="navigation" aria-label={texts.filter}>
      {[...names, undefined].map((name) => {
        const count = name === undefined ? evaluation.cases_done : counts[name];
        const word = name === undefined ? texts.all : (texts.outcomes[name] ?? name);
        return (
          <LinkButton
            key={name ?? 'all'}
            from="/prompts/$promptId/evaluations/$evaluationId"
            to="."
            search={{ outcome: name ?? 'all' }}
            resetScroll={false}
            replace
            size="xs"
            variant={name === shown ? 'light' : 'default'}
            aria-current={name === shown ? 'true' : undefined}
          >
            {count === undefined ? word : texts.tab(word, format.number(count))}
          </LinkButton>
        );
      })}
    </Group>
  );
}

function Results({ evaluation, outcome }: { evaluation: Evaluation; outcome: Outcome | undefined }): ReactNode {
  const { results: texts } = useOwnTexts(evaluations);
  const [count, setCount] = useState(step);
  const { data, error, isFetching, refetch } = useResults(evaluation.id, outcome, count);
  if (error instanceof ProblemError && error.type === 'urn:prompt-gateway:problem:evaluation-results-deleted') {
    return <EmptyState icon={IconClockOff} title={texts.expired} text={texts.expiredText} />;
  }
  if (error !== null) return <ProblemAlert error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton h={160} aria-label={texts.loading} />;
  if (data.results.length === 0) return <Text c="dimmed">{texts.none}</Text>;
  return (
    <>
      <Paper withBorder component="ul" p={0} m={0} style={{ listStyle: 'none', overflow: 'hidden' }}>
        {data.results.map((result, index) => (
          <CaseRow
            key={result.case}
            evaluation={evaluation}
            result={result}
            isFirst={index === 0}
            isOpenAtFirst={index === 0 && outcome !== undefined}
          />
        ))}
      </Paper>
      {data.hasMore && (
        <Center>
          <Button
            variant="default"
            size="compact-sm"
            loading={isFetching}
            onClick={() => {
              setCount(count + step);
            }}
          >
            {texts.more}
          </Button>
        </Center>
      )}
    </>
  );
}
