import { Alert, Button, Checkbox, Group, NativeSelect, NumberInput, Skeleton, Stack, Text } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { NotFoundError, PreconditionFailedError, type Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { useScope } from '../../../app/session-context.ts';
import { datasetName, gateInput } from '../../../generated/limits.ts';
import { ConfirmQuestion } from '../../../shared/confirm-dialog.tsx';
import { JsonView } from '../../../shared/json-view.tsx';
import { fits } from '../../../shared/limits.ts';
import { useNotify } from '../../../shared/notify.ts';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { Time } from '../../../shared/time.tsx';
import { useOwnTexts, useTexts } from '../../../shared/texts.tsx';
import { versioned, type Versioned } from '../../../shared/versioned.ts';
import { gates as gateTexts } from '../../../texts/gates.ts';
import { versionNumber, versionOptions } from '../content/version-options.ts';
import { ChecksInput, DatasetInputs, RuleInputs } from '../evaluations/case-inputs.tsx';
import { mistakesOf } from '../evaluations/evaluation-form.ts';
import { promptKeys } from '../prompt-queries.ts';
import { GateTerms } from './gate-check.tsx';
import { gateFields, gateRequest, type GateFields } from './gate-form.ts';
import { gateKeys, useGates } from './gate-queries.ts';

type Gate = Versioned<Schemas['Gate']>;

export interface GateProps {
  readonly promptId: string;
  /** Of the label, which need not exist. */
  readonly name: string;
  /** The latest version of the prompt. */
  readonly newest: number;
  readonly onClose: () => void;
}

/** What a version has to show before a label names it: to set, change and remove it, or to read it. */
export function GateContent(props: GateProps): ReactNode {
  const { promptId, name } = props;
  const { dialog: texts } = useOwnTexts(gateTexts);
  const canChange = useScope('prompts:override');
  const gates = useGates(promptId);
  const listed = gates.data?.find(({ label }) => label === name);
  // It must not change by itself while the person edits it.
  const stored = useQuery({
    queryKey: [...gateKeys.gate(promptId, name), 'to-change'],
    queryFn: () => readGate(promptId, name),
    enabled: canChange && listed !== undefined,
    staleTime: Infinity,
    gcTime: 0,
  });
  const error = gates.error ?? stored.error;
  if (error !== null) {
    return <ProblemAlert error={error} onRetry={() => void (gates.error === null ? stored : gates).refetch()} />;
  }
  if (gates.data === undefined) return <Skeleton h={240} />;
  if (canChange) {
    if (listed !== undefined && stored.data === undefined) return <Skeleton h={240} />;
    return <GateForm {...props} first={stored.data ?? undefined} />;
  }
  return (
    <Stack>
      {listed === undefined ? <Text>{texts.none(name)}</Text> : <ShownGate gate={listed} />}
      <Text size="sm" c="dimmed">
        {texts.noScope}
      </Text>
    </Stack>
  );
}

/** `null` if the label has no gate. */
async function readGate(promptId: string, name: string): Promise<Gate | null> {
  try {
    return await versioned(gateway.gates.get(promptId, name));
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
}

function ShownGate({ gate }: { readonly gate: Schemas['Gate'] }): ReactNode {
  const { dialog: texts } = useOwnTexts(gateTexts);
  const { checks = [], breaking, author, updated_at: at } = gate;
  return (
    <Stack gap="sm">
      <Text style={{ overflowWrap: 'anywhere' }}>
        <GateTerms gate={gate} /> {breaking === 'refuse' && texts.refusesBreaking}
      </Text>
      {checks.length > 0 && (
        <>
          <Text size="sm" c="dimmed">
            {texts.checks}
          </Text>
          <JsonView value={checks} label={texts.checks} />
        </>
      )}
      <Text size="sm" c="dimmed">
        {texts.setBy(author.name)} <Time value={at} />
      </Text>
    </Stack>
  );
}

function GateForm({
  promptId,
  name,
  newest,
  first,
  onClose,
}: GateProps & { readonly first: Gate | undefined }): ReactNode {
  const { shared, labels, prompts } = useTexts();
  const { dialog: texts } = useOwnTexts(gateTexts);
  const queryClient = useQueryClient();
  const notify = useNotify();
  const [fields, setFields] = useState(() => gateFields(first?.data));
  const [base, setBase] = useState(first);
  const [isOvertaken, setOvertaken] = useState(false);
  const [isRemoving, setRemoving] = useState(false);
  const change = useMutation({
    /** @param sent nothing removes the gate */
    mutationFn: async (sent: Schemas['GateInput'] | undefined) => {
      try {
        if (sent === undefined) await gateway.gates.delete(promptId, name, { ifMatch: base?.etag });
        else {
          await gateway.gates.set(
            promptId,
            name,
            sent,
            base === undefined ? { ifNoneMatch: '*' } : { ifMatch: base.etag },
          );
        }
        return undefined;
      } catch (error) {
        if (!(error instanceof PreconditionFailedError)) throw error;
        return { by: (await readGate(promptId, name)) ?? undefined };
      }
    },
    onSuccess: (met, sent) => {
      setRemoving(false);
      setOvertaken(met !== undefined);
      if (met !== undefined) {
        setBase(met.by);
        return;
      }
      notify(sent === undefined ? texts.removed(name) : texts.done(name));
      onClose();
    },
    onSettled: () => {
      void queryClient.invalidateQueries({
        queryKey: promptKeys.labels(promptId),
        predicate: ({ queryKey }) => queryKey.at(-1) !== 'to-change',
      });
    },
  });
  const set = (changed: Partial<GateFields>): void => {
    change.reset();
    setFields({ ...fields, ...changed });
  };
  const mistakeIn = mistakesOf(change.error);
  const request = gateRequest(fields);
  const parts = { fields, mistakeIn, onChange: set };
  if (isRemoving) {
    return (
      <ConfirmQuestion
        text={texts.removeText(name)}
        confirm={texts.remove}
        isDangerous
        isPending={change.isPending}
        error={change.error}
        onConfirm={() => {
          change.mutate(undefined);
        }}
        onClose={() => {
          change.reset();
          setRemoving(false);
        }}
      />
    );
  }
  return (
    <Stack
      component="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (request !== undefined && !change.isPending) change.mutate(request);
      }}
    >
      <Text size="sm">
        {base === undefined ? texts.none(name) : texts.about(name)} {texts.baseline} {base !== undefined && texts.stale}
      </Text>
      <RuleInputs {...parts} />
      <DatasetInputs {...parts} isPinned />
      <ChecksInput {...parts} />
      <Group align="flex-start" grow>
        <NumberInput
          label={texts.maxAge}
          min={gateInput.max_age_days.minimum}
          max={gateInput.max_age_days.maximum}
          allowDecimal={false}
          value={fields.maxAge}
          error={mistakeIn('max_age_days')}
          onChange={(value) => {
            if (typeof value === 'number') set({ maxAge: value });
          }}
        />
        {fields.rule === 'not_worse_by' && (
          <NativeSelect
            label={texts.anchor}
            description={texts.anchorHint}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            value={String(fields.anchor ?? '')}
            data={[
              { value: '', label: texts.noAnchor },
              ...versionOptions(newest, fields.anchor, prompts.history.version),
            ]}
            error={mistakeIn('anchor')}
            onChange={(event) => {
              set({ anchor: versionNumber(event.currentTarget.value) });
            }}
          />
        )}
      </Group>
      <Checkbox
        label={texts.breaking}
        checked={fields.isBreakingRefused}
        onChange={(event) => {
          set({ isBreakingRefused: event.currentTarget.checked });
        }}
      />
      {isOvertaken && (
        <Alert color="yellow" role="alert" icon={<IconInfoCircle />} title={labels.meanwhile.title}>
          <Stack gap="xs">
            <Text size="sm">
              {base === undefined ? texts.gone : texts.changedBy(base.data.author.name)} {labels.meanwhile.nothingDone}
            </Text>
            {base !== undefined && <ShownGate gate={base.data} />}
          </Stack>
        </Alert>
      )}
      {change.error !== null && <ProblemAlert error={change.error} />}
      <Group justify="flex-end" gap="xs">
        {base !== undefined && (
          <Button
            variant="default"
            c="red"
            me="auto"
            disabled={change.isPending}
            onClick={() => {
              change.reset();
              setRemoving(true);
            }}
          >
            {texts.remove}
          </Button>
        )}
        <Button variant="default" onClick={onClose} disabled={change.isPending}>
          {shared.cancel}
        </Button>
        <Button
          type="submit"
          loading={change.isPending}
          disabled={request === undefined || !fits(fields.dataset, datasetName)}
        >
          {base === undefined ? texts.set : texts.change}
        </Button>
      </Group>
    </Stack>
  );
}
