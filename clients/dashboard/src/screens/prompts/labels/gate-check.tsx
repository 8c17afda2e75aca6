import { Alert, Button, Group, List, Stack, Text, TextInput } from '@mantine/core';
import { IconShieldCheck, IconShieldX } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { useScope } from '../../../app/session-context.ts';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { Time } from '../../../shared/time.tsx';
import { useFormat, useOwnTexts } from '../../../shared/texts.tsx';
import { gates } from '../../../texts/gates.ts';
import { gateKeys } from './gate-queries.ts';

type Gate = Schemas['Gate'];
type Gated = Schemas['GatedVersion'];
type Comparison = Gated['comparisons'][number];

interface GateCheckProps {
  readonly promptId: string;
  readonly gate: Gate;
  readonly gated: Gated;
  /** Why the version shall be released whatever the gate says. */
  readonly override: string;
  readonly onOverride: (reason: string) => void;
}

/** What the gate of a label asks, what was shown of a version, and what can be done about it. */
export function GateCheck({ promptId, gate, gated, override, onOverride }: GateCheckProps): ReactNode {
  const texts = useOwnTexts(gates);
  const canOverride = useScope('prompts:override');
  const { version, releasable: isReleasable, comparisons } = gated;
  const isBreaking = gate.breaking === 'refuse' && (gated.warnings ?? []).length > 0;
  return (
    <Alert
      color={isReleasable ? 'green' : 'yellow'}
      role="group"
      aria-label={texts.title}
      icon={isReleasable ? <IconShieldCheck /> : <IconShieldX />}
      title={isReleasable ? texts.letsIn(version) : texts.refuses(version)}
    >
      <Stack gap="sm" align="flex-start">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          <GateTerms gate={gate} />
        </Text>
        {comparisons.length === 0 && !isReleasable && <Text size="sm">{texts.nothingToCompare}</Text>}
        {isBreaking && <Text size="sm">{texts.refusesBreaking}</Text>}
        {comparisons.map((comparison) => (
          <Shown key={comparison.against} {...{ promptId, comparison, version }} label={gate.label} />
        ))}
        {!isReleasable && !canOverride && <Text size="sm">{texts.noOverride}</Text>}
        {!isReleasable && canOverride && (
          <TextInput
            w="100%"
            label={texts.override}
            description={texts.overrideHint}
            value={override}
            maxLength={500}
            onChange={(event) => {
              onOverride(event.currentTarget.value);
            }}
          />
        )}
      </Stack>
    </Alert>
  );
}

/** What a gate asks, in sentences. */
export function GateTerms({ gate }: { readonly gate: Gate }): ReactNode {
  const texts = useOwnTexts(gates);
  const format = useFormat();
  const { dataset, rule, max_age_days: days, anchor, calibration = [] } = gate;
  const [weakest] = calibration.toSorted((one, other) => one.j - other.j);
  return (
    <>
      {ruleIn(rule, texts)} {texts.cases(dataset.name, dataset.version)} {texts.maxAge(days)}{' '}
      {anchor !== undefined && texts.anchor(anchor)}{' '}
      {weakest !== undefined && texts.judged(format.number(weakest.j), format.number(weakest.marks))}
    </>
  );
}

/** A question of the gate, and its answer. */
function Shown({
  promptId,
  label,
  version,
  comparison,
}: {
  readonly promptId: string;
  readonly label: string;
  readonly version: number;
  readonly comparison: Comparison;
}): ReactNode {
  const texts = useOwnTexts(gates);
  const queryClient = useQueryClient();
  const canEvaluate = useScope('prompts:invoke');
  const { against, baseline, status, verdict, evaluable: isEvaluable, evaluations } = comparison;
  const start = useMutation({
    mutationFn: () =>
      gateway.gates.createEvaluation(promptId, label, {
        version,
        ...(against === 'anchor' && { against: 'anchor' as const }),
      }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: gateKeys.gate(promptId, label) }),
  });
  return (
    <Stack gap={6} align="flex-start">
      <Text size="sm" fw={500}>
        {texts.against(baseline, against === 'anchor')} {texts.statuses[status] ?? status}
        {verdict !== undefined && ` ${texts.counts(verdict.passed, verdict.units, verdict.regressed)}`}
      </Text>
      {evaluations.length > 0 && (
        <List size="sm" aria-label={texts.evaluations}>
          {evaluations.map(({ evaluation, counts, stale = [] }) => (
            <List.Item key={evaluation.id}>
              <Group gap={6}>
                <Time value={evaluation.created_at} />
                <span>{texts.outcomes[evaluation.verdict?.outcome ?? evaluation.status] ?? evaluation.status}</span>
                {stale.length > 0 && <span>{texts.isStale}</span>}
                {counts && <span>{texts.isCounted}</span>}
              </Group>
            </List.Item>
          ))}
        </List>
      )}
      {isEvaluable && canEvaluate && (
        <Button
          size="compact-sm"
          variant="default"
          loading={start.isPending}
          onClick={() => {
            start.mutate();
          }}
        >
          {evaluations.some(({ counts }) => counts) ? texts.evaluateAgain : texts.evaluate(version)}
        </Button>
      )}
      {start.error !== null && <ProblemAlert error={start.error} />}
    </Stack>
  );
}

function ruleIn({ not_worse_by: margin, min_pass_rate: rate }: Gate['rule'], texts: (typeof gates)['en']): string {
  if (margin !== undefined) return texts.rules.notWorse(percent(margin));
  return rate === undefined ? texts.rules.allPass : texts.rules.rate(percent(rate));
}

/** Without the digits that come from binary fractions. */
function percent(part: number): number {
  return Number((part * 100).toPrecision(6));
}
