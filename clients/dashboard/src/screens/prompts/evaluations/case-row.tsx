import { Alert, Box, Button, Group, List, Skeleton, Stack, Text, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { TextLink } from '../../../shared/links.tsx';
import { knownProblem, ProblemAlert } from '../../../shared/problem-alert.tsx';
import { StatusBadge, type Tone } from '../../../shared/status-badge.tsx';
import { useFormat, useOwnTexts, useTexts } from '../../../shared/texts.tsx';
import { evaluations } from '../../../texts/evaluations.ts';
import { CaseContent } from '../../datasets/case-table.tsx';
import { ContentDiff } from '../code/lazy-code.tsx';
import { Answer } from '../content/answer.tsx';
import { textOf } from '../playground/answer-difference.tsx';
import classes from './evaluations.module.css';
import type { Evaluation } from './queries.ts';
import { useCase, type CaseResult, type SideResult } from './results.ts';

const tones: Readonly<Record<string, Tone>> = {
  regressed: 'danger',
  failed: 'danger',
  improved: 'ok',
  passed: 'ok',
  error: 'warning',
};

interface CaseProps {
  evaluation: Evaluation;
  result: CaseResult;
}

/** A case: how it went, and why; what was asked and answered on demand. */
export function CaseRow({
  evaluation,
  result,
  isFirst,
  isOpenAtFirst,
}: CaseProps & { isFirst: boolean; isOpenAtFirst: boolean }): ReactNode {
  const { results: texts } = useOwnTexts(evaluations);
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const Icon = isOpen ? IconChevronDown : IconChevronRight;
  const reason = isOpen ? undefined : reasonOf(result);
  return (
    <Box
      component="li"
      style={isFirst ? undefined : { borderBlockStart: '1px solid var(--mantine-color-default-border)' }}
    >
      <UnstyledButton
        className={classes.case}
        aria-expanded={isOpen}
        onClick={() => {
          setOpen(!isOpen);
        }}
      >
        <Group gap="sm" wrap="nowrap" align="flex-start">
          <Icon size={16} stroke={1.75} aria-hidden style={{ flex: 'none', marginBlockStart: 2 }} />
          <div style={{ minInlineSize: 0, flex: 1 }}>
            <Group gap="xs" justify="space-between">
              <Text span size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
                {result.case}
                {result.group !== undefined && ` · ${texts.group(result.group)}`}
              </Text>
              <StatusBadge tone={tones[result.outcome] ?? 'neutral'}>
                {texts.outcomes[result.outcome] ?? result.outcome}
              </StatusBadge>
            </Group>
            {reason !== undefined && (
              <Text size="sm" c="dimmed" lineClamp={1} style={{ overflowWrap: 'anywhere' }}>
                {reason}
              </Text>
            )}
          </div>
        </Group>
      </UnstyledButton>
      {isOpen && (
        <Box px="md" pb="md">
          <OpenCase evaluation={evaluation} result={result} />
        </Box>
      )}
    </Box>
  );
}

/** The first reason why the candidate does not pass. */
function reasonOf({ candidate }: CaseResult): string | undefined {
  return candidate?.error?.detail ?? candidate?.checks?.find(({ pass }) => !pass)?.reason;
}

function OpenCase({ evaluation, result }: CaseProps): ReactNode {
  const texts = useOwnTexts(evaluations);
  const { results: own, sides } = texts;
  const { candidate, baseline } = result;
  if (candidate === undefined) return <Text c="dimmed">{own.erasedText}</Text>;
  const [after, before] = [candidate.answer, baseline?.answer].map((answer) => answer && textOf(answer));
  const isCompared = before !== undefined && after !== undefined;
  return (
    <Stack gap="md">
      <AskedCase evaluation={evaluation} result={result} />
      {isCompared && before !== after && (
        <Stack gap={4} component="section" aria-label={own.difference}>
          <ContentDiff
            before={{ label: sideName(texts.sides['baseline'], evaluation.baseline?.version), text: before }}
            after={{ label: sideName(texts.sides['candidate'], evaluation.candidate.version), text: after }}
            isFolded={false}
          />
        </Stack>
      )}
      {isCompared && before === after && candidate.answer !== undefined && (
        <Stack gap={4}>
          <Text size="sm" fw={500}>
            {own.both}
          </Text>
          <Answer result={candidate.answer} label={own.both} />
        </Stack>
      )}
      <div className={classes.sides}>
        {baseline !== undefined && <Side name={sides['baseline'] ?? ''} side={baseline} hasAnswer={!isCompared} />}
        <Side name={sides['candidate'] ?? ''} side={candidate} hasAnswer={!isCompared} />
      </div>
    </Stack>
  );
}

function sideName(name = '', version?: number): string {
  return version === undefined ? name : `${name}: v${version}`;
}

/** One side: how it went, its answer unless both are shown together, and the checks. */
function Side({ name, side, hasAnswer }: { name: string; side: SideResult; hasAnswer: boolean }): ReactNode {
  const { results: texts } = useOwnTexts(evaluations);
  const { shared, prompts } = useTexts();
  const format = useFormat();
  const canReadLog = useScope('invocations:read');
  const { passed, error, failure, answer, checks = [], latency_ms: latency, cost, invocation_id: invocation } = side;
  return (
    <Stack gap="xs" component="section" aria-label={name}>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {name}
        </Text>
        <StatusBadge tone={passed === undefined ? 'warning' : passed ? 'ok' : 'danger'}>
          {passed === undefined ? texts.noAnswer : passed ? texts.passes : texts.fails}
        </StatusBadge>
      </Group>
      <Text size="xs" c="dimmed">
        {[
          side.model === undefined ? '' : `${side.provider ?? ''} / ${side.model}`,
          latency === undefined ? '' : format.duration(latency),
          answer === undefined ? '' : (format.cost(cost) ?? prompts.playground.unknownCost),
        ]
          .filter((part) => part !== '')
          .join(' · ')}{' '}
        {invocation !== undefined && canReadLog && (
          <TextLink to="/invocations/$id" params={{ id: invocation }} size="xs" underline="always">
            {texts.invocation}
          </TextLink>
        )}
      </Text>
      {failure !== undefined && <Alert color="red">{texts.unusable[failure] ?? failure}</Alert>}
      {error !== undefined && (
        <Alert color="red" title={knownProblem(error.type ?? '', shared).title ?? error.title}>
          {knownProblem(error.type ?? '', shared).detail ?? error.detail}
        </Alert>
      )}
      {hasAnswer && answer !== undefined && <Answer result={answer} label={texts.answerOf(name)} />}
      {answer === undefined && error === undefined && (
        <Text size="sm" c="dimmed">
          {texts.notKept}
        </Text>
      )}
      {checks.length > 0 && (
        <List size="sm" aria-label={texts.checks} spacing={4} listStyleType="none">
          {checks.map(({ type, pass, reason }, index) => (
            <List.Item key={index}>
              <Group gap={6}>
                <StatusBadge tone={pass ? 'ok' : 'danger'}>{pass ? texts.checkPassed : texts.checkFailed}</StatusBadge>
                <Text span size="sm" ff="monospace">
                  {type}
                </Text>
              </Group>
              {reason !== undefined && (
                <Text size="sm" className={classes.reason}>
                  {reason}
                </Text>
              )}
            </List.Item>
          ))}
        </List>
      )}
    </Stack>
  );
}

/** What was asked. It is read on demand, because the results do not have it. */
function AskedCase({ evaluation, result }: CaseProps): ReactNode {
  const { results: texts } = useOwnTexts(evaluations);
  const [isAsked, setAsked] = useState(false);
  const { data, error, isFetching } = useCase(evaluation, result.case, isAsked);
  return (
    <Stack gap="xs">
      {!isAsked && (
        <Group>
          <Button
            variant="default"
            size="compact-sm"
            onClick={() => {
              setAsked(true);
            }}
          >
            {texts.showCase}
          </Button>
        </Group>
      )}
      {isAsked && isFetching && <Skeleton h={80} />}
      {error !== null && <ProblemAlert error={error} />}
      {data === null && <Text c="dimmed">{texts.caseGone}</Text>}
      {data !== undefined && data !== null && <CaseContent content={data} />}
    </Stack>
  );
}
