import { Alert, Button, Checkbox, Group, NativeSelect, NumberInput, Paper, Stack, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconInfoCircle, IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { listVariables } from 'prompt-gateway-client/template';
import { useMemo, useRef, useState, type ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { chosenVersion, runMembers, RunSelect } from '../content/run-select.tsx';
import { TargetSelect } from '../content/target-select.tsx';
import { VariableValuesForm } from '../content/variable-values-form.tsx';
import { jsonMistake, missingOf } from '../content/variable-values.ts';
import { useProviders, useVersion } from '../prompt-queries.ts';
import type { InvocationRequest } from '../workspace/use-invocations.ts';
import { useWorkspace, type PlaygroundSettings } from '../workspace/workspace-context.ts';
import { CallAsCode } from './call-as-code.tsx';
import { Conversation } from './conversation.tsx';
import { InvocationView } from './invocation-view.tsx';
import { ParameterOverrides } from './parameter-overrides.tsx';
import { PastInvocations } from './past-invocations.tsx';
import classes from './playground.module.css';
import { continued } from './turns.ts';

/** Invokes the stored prompt with the values of the form. */
export function PlaygroundScreen(): ReactNode {
  const { stored, values, setValues, isDirty, playground, setPlayground, invocations } = useWorkspace();
  const { playground: texts } = useTexts().prompts;
  const canInvoke = useScope('prompts:invoke');
  const { data: prompt } = stored;
  const version = chosenVersion(playground.run, prompt);
  const pinned = useVersion(prompt.id, version);
  const content = version === undefined ? prompt : pinned.data;
  const variables = useMemo(() => (content === undefined ? [] : listVariables(content)), [content]);
  const [shownId, setShownId] = useState<number>();
  const [wasRun, setWasRun] = useState(false);
  const result = useRef<HTMLElement>(null);
  const { past, running } = invocations;
  const isRunning = running !== undefined;
  const shown = running ?? past.find(({ id }) => id === shownId) ?? past[0];
  const isWrong = jsonMistake(values) !== undefined;
  const request = useMemo(() => requestOf(playground, values.values), [playground, values.values]);

  const run = (sent = request): void => {
    if (isRunning || isWrong || !canInvoke) return;
    setWasRun(true);
    setShownId(undefined);
    invocations.run(sent);
    // On a phone the result is below the form.
    result.current?.scrollIntoView({ block: 'nearest' });
  };
  useHotkeys([['mod+Enter', () => run()]], [], true);

  return (
    <div className={classes.columns}>
      <Stack gap="md" miw={0}>
        {isDirty && (
          <Alert color="yellow" icon={<IconInfoCircle />}>
            {texts.unsaved(prompt.version)}
          </Alert>
        )}
        <Paper withBorder p="md">
          <Stack gap="md">
            <VariableValuesForm
              variables={variables}
              values={values}
              missing={wasRun ? missingOf(variables, values) : []}
              onChange={setValues}
            />
            {pinned.error !== null && version !== undefined && <ProblemAlert error={pinned.error} />}
          </Stack>
        </Paper>
        <Conversation
          turns={playground.messages}
          onChange={(messages) => {
            setPlayground({ ...playground, messages });
          }}
        />
        <Settings />
        <Group gap="sm">
          {isRunning ? (
            <Button color="red" variant="light" leftSection={<IconPlayerStop size={16} />} onClick={invocations.cancel}>
              {texts.stop}
            </Button>
          ) : (
            <Button leftSection={<IconPlayerPlay size={16} />} disabled={isWrong || !canInvoke} onClick={() => run()}>
              {texts.run}
            </Button>
          )}
          <Text size="xs" c="dimmed">
            {canInvoke ? texts.hint : texts.noScope}
          </Text>
        </Group>
      </Stack>
      <Stack gap="lg" miw={0}>
        <section
          ref={result}
          className={classes.result}
          aria-label={texts.result}
          aria-live="polite"
          aria-busy={isRunning}
        >
          {shown === undefined ? (
            <Text c="dimmed" className={classes.blank}>
              {texts.blank}
            </Text>
          ) : (
            <InvocationView
              key={shown.id}
              invocation={shown}
              onContinue={() => {
                if ('live' in shown || shown.outcome.kind !== 'answered') return;
                const messages = continued(shown.request.body.messages ?? [], shown.outcome.result);
                setPlayground({ ...playground, messages });
              }}
              onIgnoreUnsupported={() => {
                setPlayground({ ...playground, ignoresUnsupported: true });
                run({ ...request, body: { ...request.body, unsupported: 'ignore' } });
              }}
            />
          )}
        </section>
        {past.length > 0 && <PastInvocations shownId={shown?.id} onShow={setShownId} />}
        <CallAsCode slug={prompt.slug} request={request} />
      </Stack>
    </div>
  );
}

function Settings(): ReactNode {
  const { stored, playground, setPlayground } = useWorkspace();
  const { playground: texts } = useTexts().prompts;
  const { data: providers = [] } = useProviders();
  const { selected_provider, selected_model } = stored.data;
  const set = (changed: Partial<PlaygroundSettings>): void => {
    setPlayground({ ...playground, ...changed });
  };
  return (
    <Paper withBorder p="md" component="section" aria-label={texts.settings}>
      <Stack gap="sm">
        <div className={classes.pair}>
          <RunSelect
            prompt={stored.data}
            value={playground.run}
            onChange={(run) => {
              set({ run });
            }}
          />
          <NativeSelect
            label={texts.cache}
            value={playground.cache}
            data={(['default', 'max-age', 'no-cache', 'no-store', 'only-if-cached'] as const).map((value) => ({
              value,
              label: texts.caches[value],
            }))}
            onChange={(event) => {
              set({ cache: event.currentTarget.value as PlaygroundSettings['cache'] });
            }}
          />
        </div>
        {playground.cache === 'max-age' && (
          <NumberInput
            label={texts.maxAge}
            min={0}
            max={2_147_483_647}
            allowDecimal={false}
            allowNegative={false}
            value={playground.maxAge}
            onChange={(value) => {
              set({ maxAge: Number(value) });
            }}
          />
        )}
        <TargetSelect
          providers={providers}
          value={playground}
          placeholder={selected_provider === undefined ? texts.noSelection : texts.asSelected(selected_provider)}
          modelPlaceholder={selected_model === undefined ? undefined : texts.asSelected(selected_model)}
          onChange={set}
        />
        <ParameterOverrides
          saved={stored.data.parameters ?? {}}
          value={playground.parameters}
          onChange={(parameters) => {
            set({ parameters });
          }}
        />
        <Checkbox
          size="xs"
          label={texts.stream}
          checked={playground.isStreamed}
          onChange={(event) => {
            set({ isStreamed: event.currentTarget.checked });
          }}
        />
        <Checkbox
          size="xs"
          label={texts.ignoreUnsupported}
          checked={playground.ignoresUnsupported}
          onChange={(event) => {
            set({ ignoresUnsupported: event.currentTarget.checked });
          }}
        />
      </Stack>
    </Paper>
  );
}

function requestOf(
  { run, provider, model, cache, maxAge, parameters, messages, ignoresUnsupported, isStreamed }: PlaygroundSettings,
  values: NonNullable<InvocationRequest['body']['variables']>,
): InvocationRequest {
  return {
    body: {
      ...(Object.keys(values).length > 0 && { variables: values }),
      ...runMembers(run),
      ...(provider !== '' && { provider }),
      ...(model !== '' && { model }),
      ...(Object.keys(parameters).length > 0 && {
        parameters: parameters as NonNullable<InvocationRequest['body']['parameters']>,
      }),
      ...(messages.length > 0 && { messages: [...messages] }),
      ...(ignoresUnsupported && { unsupported: 'ignore' as const }),
    },
    cacheControl: cache === 'default' ? undefined : cache === 'max-age' ? `max-age=${maxAge}` : cache,
    isStreamed,
  };
}
