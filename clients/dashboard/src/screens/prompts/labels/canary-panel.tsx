import { Button, Group, Paper, Stack, Table, Text, Title } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { TextLink } from '../../../shared/links.tsx';
import { useNow } from '../../../shared/now.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { StatusBadge, type Tone } from '../../../shared/status-badge.tsx';
import { useFormat, useOwnTexts, useTexts } from '../../../shared/texts.tsx';
import { canaries } from '../../../texts/canaries.ts';
import { useVersionFeedback } from '../history/version-feedback.ts';
import { EndCanaryDialog, PromoteCanaryDialog } from './end-canary-dialogs.tsx';
import { EvidenceChart } from './evidence-chart.tsx';
import { CanaryDialog } from './canary-dialog.tsx';
import { useCanary, type Canary } from './canary-queries.ts';
import { momentOf, rateOf, requestsOf, canarySentence } from './canary-text.ts';
import classes from './canaries.module.css';

const tones: Readonly<Record<string, Tone>> = { failures: 'danger', promoted: 'ok', 'promoted-at-end': 'ok' };

/** The canary of a label that runs, or ended by its last move: both versions, the evidence, and what happens next. */
export function CanaryPanel({
  promptId,
  label,
  listed,
  newest,
  canRelease,
}: {
  promptId: string;
  label: Schemas['Label'];
  listed: Canary;
  newest: number;
  canRelease: boolean;
}): ReactNode {
  const texts = useOwnTexts(canaries);
  const format = useFormat();
  const now = useNow();
  const { canary, error } = useCanary(promptId, label.name, listed);
  const [open, setOpen] = useState<'change' | 'end' | 'promote'>();
  const { version, stable_version: stable, share, ended, author, started_at: start, gate } = canary;
  const title = texts.title(label.name, version);
  const close = (): void => {
    setOpen(undefined);
  };
  const dialog = { promptId, label, canary, onClose: close };
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Stack gap="sm">
        <Group justify="space-between" gap="sm">
          <Group gap="sm">
            <Title order={3} size="h5" style={{ overflowWrap: 'anywhere' }}>
              {title}
            </Title>
            <StatusBadge tone={ended === undefined ? 'info' : (tones[ended.reason] ?? 'neutral')}>
              {ended === undefined ? texts.running : (texts.statuses[ended.reason] ?? ended.reason)}
            </StatusBadge>
          </Group>
          {canRelease && ended === undefined && (
            <Group gap={6}>
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => {
                  setOpen('change');
                }}
              >
                {texts.change}
              </Button>
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => {
                  setOpen('end');
                }}
              >
                {texts.end}
              </Button>
              <Button
                size="compact-sm"
                onClick={() => {
                  setOpen('promote');
                }}
              >
                {texts.promote}
              </Button>
            </Group>
          )}
        </Group>
        <div>
          <Text fw={500}>{canarySentence(canary, label.name, now, texts, format)}</Text>
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {ended === undefined && texts.runs(format.percent(share), label.name, version, stable)}{' '}
            {texts.since(author.name, momentOf(start, now, texts, format))}{' '}
            {gate?.override !== undefined && texts.overridden(gate.override)}
          </Text>
        </div>
        {error !== null && error !== undefined && <ProblemAlert error={error} />}
        <Arms canary={canary} />
        <Evidence canary={canary} />
        <Feedback promptId={promptId} canary={canary} />
      </Stack>
      <CanaryDialog {...dialog} newest={newest} isOpen={open === 'change'} />
      <EndCanaryDialog {...dialog} isOpen={open === 'end'} />
      <PromoteCanaryDialog {...dialog} isOpen={open === 'promote'} />
    </Paper>
  );
}

function Arms({ canary: { id, version, stable_version: other, canary, stable } }: { canary: Canary }): ReactNode {
  const texts = useOwnTexts(canaries);
  const { none } = useTexts().shared;
  const canReadLog = useScope('invocations:read');
  const format = useFormat();
  if (canary === undefined || stable === undefined) return null;
  const rows = [
    { name: texts.canary(version), arm: canary, drawn: 'canary' as const },
    { name: texts.stable(other), arm: stable, drawn: 'stable' as const },
  ];
  return (
    <div>
      <Table aria-label={texts.counts} maw={640} horizontalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.columns.version}</Table.Th>
            <Table.Th className={classes.number}>{texts.columns.requests}</Table.Th>
            <Table.Th className={classes.number}>{texts.columns.failures}</Table.Th>
            <Table.Th className={classes.number}>{texts.columns.rate}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ name, arm, drawn }) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" fw={500}>
                {name}
                {canReadLog && (
                  <TextLink
                    to="/invocations"
                    search={{ canary_id: id, arm: drawn }}
                    size="xs"
                    display="block"
                    aria-label={texts.records.linkOf(name)}
                  >
                    {texts.records.link}
                  </TextLink>
                )}
              </Table.Th>
              <Table.Td className={classes.number}>{requestsOf(arm, texts, format)}</Table.Td>
              <Table.Td className={classes.number}>{format.number(arm.failures)}</Table.Td>
              <Table.Td className={classes.number}>{rateOf(arm, none, texts, format)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {canary.requests + stable.requests === 0 && (
        <Text size="sm" c="dimmed" mt={4}>
          {texts.notYet}
        </Text>
      )}
    </div>
  );
}

function Evidence({ canary }: { canary: Canary }): ReactNode {
  const { evidence: texts } = useOwnTexts(canaries);
  const format = useFormat();
  const { evidence, threshold, excluded_ratio: ratio, version } = canary;
  if (evidence === undefined || threshold === undefined) return null;
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500}>
        {texts.title}
      </Text>
      <EvidenceChart evidence={evidence} threshold={threshold} />
      <Text size="sm" c="dimmed" maw={640}>
        {texts.text(format.number(threshold))} {ratio !== undefined && texts.excluded(version, format.number(ratio))}
      </Text>
    </Stack>
  );
}

/** The API has it by version, not by what was drawn. */
function Feedback({ promptId, canary }: { promptId: string; canary: Canary }): ReactNode {
  const texts = useOwnTexts(canaries);
  const { noFeedback } = useTexts().prompts.history;
  const feedback = useVersionFeedback(promptId);
  const { version, stable_version: stable } = canary;
  if (!feedback.has(version) && !feedback.has(stable)) return null;
  const wordsOf = (one: number): string => texts.feedbackOf(one, feedback.get(one) ?? noFeedback);
  return (
    <Text size="sm" c="dimmed">
      {texts.feedback(wordsOf(version), wordsOf(stable))}
    </Text>
  );
}
