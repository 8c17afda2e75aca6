import { Alert, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconUserCheck } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { FactTable } from '../../../shared/fact-table.tsx';
import { LinkButton } from '../../../shared/links.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { Section } from '../../../shared/section.tsx';
import { StatusBadge } from '../../../shared/status-badge.tsx';
import { useFormat, useOwnTexts } from '../../../shared/texts.tsx';
import { evaluations } from '../../../texts/evaluations.ts';
import { isActive, neededOfJudges as needed, useCalibration, type Evaluation } from './queries.ts';

type Calibration = Schemas['JudgeCalibration'];

/** The judges of an evaluation, and how well they agree with people. */
export function Judges({ evaluation }: { evaluation: Evaluation }): ReactNode {
  const { judges: texts } = useOwnTexts(evaluations);
  const canMark = useScope('datasets:write');
  const canRead = useScope('datasets:read');
  const { id, prompt_id: promptId, judges = [] } = evaluation;
  const { data, error, refetch } = useCalibration(id, judges.length > 0);
  if (judges.length === 0) return null;
  const own = judges.filter(({ same_family: isOwn }) => isOwn);
  return (
    <Section title={texts.title}>
      {own.map(({ prompt, version, model }) => (
        <Alert key={`${prompt} ${version}`} color="yellow" icon={<IconAlertTriangle />}>
          {texts.sameFamily(prompt, model)}
        </Alert>
      ))}
      {error !== null && <ProblemAlert error={error} onRetry={() => void refetch()} />}
      {data?.judges.map((calibration) => (
        <Judge key={calibration.check} calibration={calibration} />
      ))}
      {data !== undefined && data.judges.length > 0 && (
        <Stack gap="xs">
          <Text size="sm" c="dimmed">
            {texts.about}
          </Text>
          {canMark && canRead && !isActive(evaluation) && (
            <Group>
              <LinkButton
                to="/prompts/$promptId/evaluations/$evaluationId/marks"
                params={{ promptId, evaluationId: id }}
                variant="default"
                size="xs"
                leftSection={<IconUserCheck size={14} />}
              >
                {texts.mark}
              </LinkButton>
            </Group>
          )}
        </Stack>
      )}
    </Section>
  );
}

function Judge({ calibration }: { calibration: Calibration }): ReactNode {
  const { judges: texts, version: versionText } = useOwnTexts(evaluations);
  const format = useFormat();
  const { prompt, version, provider, model, marks, sensitivity, specificity, j } = calibration;
  const isEnough = marks >= needed.marks && j >= needed.j;
  const rate = ({ rate: seen, lower }: Calibration['sensitivity']): string =>
    seen === undefined ? texts.unknown : texts.atLeast(format.percent(seen), format.percent(lower));
  return (
    <Stack gap="xs" component="section" aria-label={prompt}>
      <Group gap="xs">
        <Text fw={500}>
          {prompt} {versionText(version)}
        </Text>
        <StatusBadge tone={isEnough ? 'ok' : 'neutral'}>{isEnough ? texts.enough : texts.notEnough}</StatusBadge>
      </Group>
      <FactTable
        facts={[
          { label: texts.model, value: `${provider} / ${model}` },
          { label: texts.marks, value: texts.marksOf(format.number(marks), needed.marks) },
          { label: texts.sensitivity, value: rate(sensitivity) },
          { label: texts.specificity, value: rate(specificity) },
          { label: texts.j, value: texts.jOf(format.number(j), format.number(needed.j)) },
        ]}
      />
    </Stack>
  );
}
