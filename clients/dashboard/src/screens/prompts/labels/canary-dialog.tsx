import { Button, Checkbox, Group, NativeSelect, NumberInput, SimpleGrid, Stack, Text } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { Dialog } from '../../../shared/dialog.tsx';
import { gateway } from '../../../app/gateway.ts';
import { canaryPromotion, canaryShare, canaryTarget } from '../../../generated/limits.ts';
import { useNotify } from '../../../shared/notify.ts';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useFormat, useOwnTexts, useTexts } from '../../../shared/texts.tsx';
import { canaries } from '../../../texts/canaries.ts';
import { versionNumber, versionOptions } from '../content/version-options.ts';
import { OvertakenAlert } from './overtaken-alert.tsx';
import { useReleaseCheck } from './release-check.tsx';
import type { Canary } from './canary-queries.ts';
import { useLabelChange } from './use-label-change.ts';

interface CanaryFormProps {
  readonly promptId: string;
  readonly newest: number;
  readonly label: Schemas['Label'];
  /** The one that runs; without one, another begins. */
  readonly canary: Canary | undefined;
  readonly onClose: () => void;
}

/** Starts a canary, or changes its share and its end. */
export function CanaryDialog({ isOpen, ...props }: CanaryFormProps & { readonly isOpen: boolean }): ReactNode {
  const texts = useOwnTexts(canaries);
  const { label, canary, onClose } = props;
  return (
    <Dialog
      opened={isOpen}
      onClose={onClose}
      size="lg"
      title={(canary === undefined ? texts.startTitle : texts.changeTitle)(label.name)}
    >
      <CanaryForm {...props} />
    </Dialog>
  );
}

function CanaryForm({ promptId, newest, label, canary, onClose }: CanaryFormProps): ReactNode {
  const { shared, prompts } = useTexts();
  const texts = useOwnTexts(canaries);
  const { form } = texts;
  const format = useFormat();
  const notify = useNotify();
  const { name, version: stable } = label;
  const [version, setVersion] = useState(canary?.version ?? (newest === stable ? newest - 1 : newest));
  // In percent.
  const [share, setShare] = useState<number | string>(canary === undefined ? 10 : inPercent(canary.share));
  const [hours, setHours] = useState<number | string>(24);
  const [promotes, setPromotes] = useState(canary?.promote !== undefined);
  const [requests, setRequests] = useState<number | string>(canary?.promote?.min_requests ?? 1_000);
  // The gate is asked at the start, and not for a change.
  const check = useReleaseCheck({ promptId, name, version, from: stable, isGateAsked: canary === undefined });
  const isComplete =
    typeof share === 'number' && typeof hours === 'number' && (!promotes || typeof requests === 'number');
  const part = Number((Number(share) / 100).toFixed(6));
  const change = useLabelChange({
    promptId,
    name,
    isListed: true,
    send: (current) =>
      gateway.labels.setCanary(
        promptId,
        name,
        {
          version,
          share: part,
          hours: Number(hours),
          ...(promotes && { promote: { min_requests: Number(requests) } }),
          ...check.members,
        },
        { ifMatch: current?.etag },
      ),
    onDone: () => {
      notify(canary === undefined ? form.done(name, version) : form.changed(name));
      onClose();
    },
  });
  const from = change.current?.data.version ?? stable;
  const isBlocked = !isComplete || change.isReading || check.isBlocked || from === version;
  return (
    <Stack
      component="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBlocked && !change.isPending) change.submit();
      }}
    >
      <Text size="sm">{form.explanation(name, stable)}</Text>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
        <NativeSelect
          label={form.version}
          disabled={canary !== undefined}
          value={String(version)}
          data={versionOptions(newest, version, (one) =>
            one === newest ? prompts.history.currentVersion(one) : prompts.history.version(one),
          ).filter((option) => option.value !== String(stable))}
          onChange={(event) => {
            setVersion(versionNumber(event.currentTarget.value) ?? version);
          }}
        />
        <NumberInput
          label={form.share}
          suffix=" %"
          min={100 * canaryShare.minimum}
          max={100 * canaryShare.maximum}
          value={share}
          onChange={setShare}
        />
        <NumberInput
          label={form.hours}
          min={canaryTarget.hours.minimum}
          max={canaryTarget.hours.maximum}
          value={hours}
          onChange={setHours}
        />
      </SimpleGrid>
      <Checkbox
        label={form.promotes}
        description={form.promotesHint}
        checked={promotes}
        onChange={(event) => {
          setPromotes(event.currentTarget.checked);
        }}
      />
      {promotes && (
        <NumberInput
          label={form.minRequests}
          maw={260}
          allowDecimal={false}
          min={canaryPromotion.min_requests.minimum}
          max={canaryPromotion.min_requests.maximum}
          value={requests}
          onChange={setRequests}
        />
      )}
      <OvertakenAlert name={name} change={change} />
      {check.content}
      {check.breaking}
      {check.gate}
      {change.error !== null && <ProblemAlert error={change.error} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} disabled={change.isPending}>
          {shared.cancel}
        </Button>
        <Button type="submit" loading={change.isPending} disabled={isBlocked}>
          {canary === undefined ? form.submit(version, format.percent(part)) : form.change}
        </Button>
      </Group>
    </Stack>
  );
}

/** Without the digits that a multiplication of binary fractions adds. */
function inPercent(share: number): number {
  return Number((share * 100).toFixed(4));
}
