import { Button, Group, Kbd, Paper, Progress, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconArrowLeft, IconChecks, IconLock } from '@tabler/icons-react';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import { useEffect, useState, type ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { useSeesCases } from '../../../app/session-context.ts';
import { EmptyState } from '../../../shared/empty-state.tsx';
import { JsonView } from '../../../shared/json-view.tsx';
import { LinkButton } from '../../../shared/links.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { StatusBadge } from '../../../shared/status-badge.tsx';
import { useFormat, useOwnTexts } from '../../../shared/texts.tsx';
import { evaluations } from '../../../texts/evaluations.ts';
import classes from './evaluations.module.css';
import { evaluationKeys, neededOfJudges, useCalibration } from './queries.ts';

type Answer = Schemas['JudgedAnswerPage']['data'][number];

const route = getRouteApi('/prompts/$promptId/evaluations/$evaluationId/marks');
/** Answers that are read together. */
const atOnce = 50;

/** Marks answers one by one, without knowing what the judge said, by a key for each. */
export function MarksScreen(): ReactNode {
  const { marks: texts, results } = useOwnTexts(evaluations);
  const params = route.useParams();
  const seesCases = useSeesCases();
  return (
    <Stack gap="lg">
      <Group>
        <LinkButton
          to="/prompts/$promptId/evaluations/$evaluationId"
          params={params}
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<IconArrowLeft size={14} />}
        >
          {texts.back}
        </LinkButton>
      </Group>
      <Title order={2} size="h3">
        {texts.title}
      </Title>
      <Text size="sm" c="dimmed">
        {texts.about}
      </Text>
      {seesCases ? (
        <Marking id={params.evaluationId} />
      ) : (
        <EmptyState icon={IconLock} title={results.hidden} text={results.hiddenText} />
      )}
    </Stack>
  );
}

/** Those that this page has set, over those that were there. */
type Marks = Readonly<Record<string, boolean>>;

function Marking({ id }: { id: string }): ReactNode {
  const { marks: texts } = useOwnTexts(evaluations);
  const [marks, setMarks] = useState<Marks>({});
  /** Which of the answers is shown; the first one without a mark until somebody chooses. */
  const [chosen, choose] = useState<number>();
  const list = useInfiniteQuery({
    queryKey: evaluationKeys.answers(id),
    queryFn: ({ signal, pageParam: after }) =>
      gateway.evaluations.listJudgedAnswers(id, { limit: atOnce, ...(after !== '' && { after }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ pagination: { next } }) => next ?? undefined,
    // What changes is known here.
    staleTime: Infinity,
    gcTime: 0,
  });
  const { data, error, hasNextPage, isFetching, fetchNextPage, refetch } = list;
  const answers = data?.pages.flatMap((page) => page.data) ?? [];
  const markOf = (answer: Answer): boolean | undefined => marks[answer.id] ?? answer.mark?.pass;
  const after = (index: number): number => {
    const next = answers.findIndex((answer, place) => place > index && markOf(answer) === undefined);
    return next === -1 ? answers.length : next;
  };
  const shown = chosen ?? after(-1);
  const isNearEnd = shown >= answers.length - atOnce / 2;
  useEffect(() => {
    if (hasNextPage && isNearEnd && !isFetching && error === null) void fetchNextPage();
  }, [hasNextPage, isNearEnd, isFetching, error, fetchNextPage]);

  if (error !== null) return <ProblemAlert error={error} onRetry={() => void refetch()} />;
  const answer = answers[shown];
  if (answer === undefined) {
    if (hasNextPage || isFetching) return <Skeleton h={240} aria-label={texts.loading} />;
    return (
      <EmptyState
        icon={IconChecks}
        title={texts.doneTitle}
        text={answers.length === 0 ? texts.noneText : texts.doneText}
      />
    );
  }
  return (
    <OneAnswer
      key={answer.id}
      id={id}
      answer={answer}
      mark={markOf(answer)}
      counts={countsOf(answers, markOf)}
      onMarked={(pass) => {
        setMarks((before) => ({ ...before, [answer.id]: pass }));
        choose(after(shown));
      }}
      onSkip={() => {
        choose(after(shown));
      }}
      onBack={
        shown === 0
          ? undefined
          : () => {
              choose(shown - 1);
            }
      }
    />
  );
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
}

function countsOf(answers: readonly Answer[], markOf: (answer: Answer) => boolean | undefined): Counts {
  const all = answers.map(markOf);
  return { passed: all.filter((mark) => mark === true).length, failed: all.filter((mark) => mark === false).length };
}

function OneAnswer({
  id,
  answer,
  mark,
  counts,
  onMarked,
  onSkip,
  onBack,
}: {
  id: string;
  answer: Answer;
  mark: boolean | undefined;
  counts: Counts;
  onMarked: (pass: boolean) => void;
  onSkip: () => void;
  onBack: (() => void) | undefined;
}): ReactNode {
  const { marks: texts } = useOwnTexts(evaluations);
  const format = useFormat();
  const queryClient = useQueryClient();
  const save = useMutation({
    mutationFn: (pass: boolean) => gateway.evaluations.setMark(id, answer.id, { pass }),
    onSuccess: (_, pass) => {
      void queryClient.invalidateQueries({ queryKey: evaluationKeys.calibration(id) });
      onMarked(pass);
    },
  });
  const set = (pass: boolean) => () => {
    if (!save.isPending) save.mutate(pass);
  };
  useHotkeys([
    ['p', set(true)],
    ['f', set(false)],
    ['s', () => (save.isPending ? undefined : onSkip())],
    ['b', () => (save.isPending ? undefined : onBack?.())],
  ]);
  const { rubric, output, at, variables, messages, expected } = answer;
  const marked = counts.passed + counts.failed;
  /** Of the judge that has fewest, with those of other evaluations. */
  const { judges = [] } = useCalibration(id).data ?? {};
  const known = judges.length === 0 ? 0 : Math.min(...judges.map(({ marks }) => marks));
  return (
    <Stack gap="md">
      <Stack gap={4}>
        <Text size="sm" role="status">
          {texts.progress(format.number(marked), format.number(counts.passed), format.number(counts.failed))}
        </Text>
        <Progress
          value={Math.min(100, (100 * known) / neededOfJudges.marks)}
          aria-label={texts.progressLabel(neededOfJudges.marks)}
        />
        <Text size="sm" c="dimmed">
          {texts.known(format.number(known), neededOfJudges.marks)}
        </Text>
      </Stack>
      <Paper withBorder p="lg" component="article" aria-label={texts.answer}>
        <Stack gap="md">
          <Part title={texts.rubric}>
            <Text className={classes.reason}>{rubric}</Text>
          </Part>
          <Part title={at === undefined ? texts.answer : texts.answerAt(at)}>
            <Text className={classes.reason}>{output}</Text>
          </Part>
          {expected !== undefined && (
            <Part title={texts.expected}>
              <JsonView value={expected} label={texts.expected} />
            </Part>
          )}
          {(variables !== undefined || messages !== undefined) && (
            <Part title={texts.asked}>
              <JsonView
                value={
                  variables === undefined ? messages : messages === undefined ? variables : { variables, messages }
                }
                label={texts.asked}
              />
            </Part>
          )}
        </Stack>
      </Paper>
      {save.error !== null && <ProblemAlert error={save.error} />}
      <Group gap="sm">
        <Button
          color="green"
          variant="light"
          rightSection={<Kbd size="xs">P</Kbd>}
          onClick={set(true)}
          loading={save.isPending && save.variables}
        >
          {texts.pass}
        </Button>
        <Button
          color="red"
          variant="light"
          rightSection={<Kbd size="xs">F</Kbd>}
          onClick={set(false)}
          loading={save.isPending && !save.variables}
        >
          {texts.fail}
        </Button>
        <Button variant="default" rightSection={<Kbd size="xs">S</Kbd>} onClick={onSkip} disabled={save.isPending}>
          {texts.skip}
        </Button>
        {onBack !== undefined && (
          <Button
            variant="subtle"
            color="gray"
            rightSection={<Kbd size="xs">B</Kbd>}
            onClick={onBack}
            disabled={save.isPending}
          >
            {texts.previous}
          </Button>
        )}
        {mark !== undefined && (
          <StatusBadge tone={mark ? 'ok' : 'danger'}>{mark ? texts.passed : texts.failed}</StatusBadge>
        )}
      </Group>
    </Stack>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      {children}
    </Stack>
  );
}
