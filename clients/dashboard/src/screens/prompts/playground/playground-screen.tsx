import { Alert, Button, Checkbox, Group, NativeSelect, NumberInput, Paper, Stack, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconInfoCircle, IconPlayerPlay, IconPlayerStop, IconPlus, IconTestPipe } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import { listVariables } from 'prompt-gateway-client/template';
import { useMemo, useRef, useState, type ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { TextLink } from '../../../shared/links.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { useContent } from '../../invocations/queries.ts';
import { chosenVersion, runMembers, RunSelect } from '../content/run-select.tsx';
import { TargetRow } from '../content/target-row.tsx';
import { TargetSelect } from '../content/target-select.tsx';
import { VariableValuesForm } from '../content/variable-values-form.tsx';
import { jsonMistake, missingOf } from '../content/variable-values.ts';
import { useProviders, useVersion } from '../prompt-queries.ts';
import type { Parameters } from '../generation/parameters.tsx';
import type { Invocation, InvocationRequest } from '../workspace/use-invocations.ts';
import { useWorkspace, type PlaygroundSettings } from '../workspace/workspace-context.ts';
import { CallAsCode } from './call-as-code.tsx';
import { Conversation } from './conversation.tsx';
import { InvocationView } from './invocation-view.tsx';
import { ParameterOverrides } from './parameter-overrides.tsx';
import { PastInvocations } from './past-invocations.tsx';
import classes from './playground.module.css';
import { continued } from './turns.ts';

/** The most models beside the first. */
const mostOthers = 5;

/** Invokes the stored prompt with the values of the form. */
export function PlaygroundScreen(): ReactNode {
  const { stored, values, setValues, setDraft, isDirty, playground, setPlayground, setTestTargets, invocations } =
    useWorkspace();
  const { playground: texts } = useTexts().prompts;
  const canInvoke = useScope('prompts:invoke');
  const canWrite = useScope('prompts:write');
  const navigate = useNavigate();
  const { invocation } = useSearch({ from: '/prompts/$promptId/playground' });
  const { data: prompt } = stored;
  const version = chosenVersion(playground.run, prompt);
  const pinned = useVersion(prompt.id, version);
  const content = version === undefined ? prompt : pinned.data;
  const variables = useMemo(() => (content === undefined ? [] : listVariables(content)), [content]);
  const [chosen, setChosen] = useState<number>();
  const [wasRun, setWasRun] = useState(false);
  const result = useRef<HTMLElement>(null);
  const { past, running } = invocations;
  const isRunning = running.length > 0;
  const shown = running[0]?.group ?? chosen ?? past[0]?.group;
  const answers = [...running, ...past].filter(({ group }) => group === shown).sort((a, b) => a.id - b.id);
  const isWrong = jsonMistake(values) !== undefined;
  const requests = useMemo(
    () => [playground, ...playground.others].map((target) => requestOf({ ...playground, ...target }, values.values)),
    [playground, values.values],
  );
  const [request] = requests;

  const run = (sent = requests): void => {
    if (isRunning || isWrong || !canInvoke) return;
    setWasRun(true);
    setChosen(undefined);
    invocations.run(sent);
    // On a phone the result is below the form.
    result.current?.scrollIntoView({ block: 'nearest' });
  };
  useHotkeys([['mod+Enter', () => run()]], [], true);

  /** Puts what was sent into the draft, so that it can be saved as a version. */
  const use = ({ body: { provider, model, parameters = {} } }: InvocationRequest): void => {
    setDraft((draft) => ({
      ...draft,
      ...(provider !== undefined && { provider, model: model ?? '' }),
      generation: {
        ...draft.generation,
        parameters: { ...(draft.generation['parameters'] as Parameters | undefined), ...parameters },
      },
    }));
    void navigate({ to: '/prompts/$promptId', params: { promptId: prompt.id } });
  };
  const test = (): void => {
    const { selected_provider: selected = 'echo', selected_model: selectedModel = '' } = prompt;
    setTestTargets(
      [playground, ...playground.others].map(({ provider, model }) => ({
        key: crypto.randomUUID(),
        provider: provider === '' ? selected : provider,
        model: provider === '' && model === '' ? selectedModel : model,
      })),
    );
    void navigate({ to: '/prompts/$promptId/test-runs', params: { promptId: prompt.id } });
  };

  return (
    <div className={classes.columns}>
      <Stack gap="md" miw={0}>
        {isDirty && (
          <Alert color="yellow" icon={<IconInfoCircle />}>
            {texts.unsaved(prompt.version)}
          </Alert>
        )}
        {invocation !== undefined && <OpenedInvocation id={invocation} />}
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
          {canInvoke && (
            <Button variant="default" leftSection={<IconTestPipe size={16} />} onClick={test}>
              {texts.asTestRun}
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
          {answers.length === 0 && (
            <Text c="dimmed" className={classes.blank}>
              {texts.blank}
            </Text>
          )}
          <div className={classes.answers}>
            {answers.map((one) => (
              <Stack key={one.id} gap="xs" miw={0} role="group" aria-label={nameOf(one, prompt) || texts.answer}>
                {answers.length > 1 && (
                  <Text size="sm" fw={600} ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                    {nameOf(one, prompt)}
                  </Text>
                )}
                <InvocationView
                  invocation={one}
                  name={answers.length > 1 ? nameOf(one, prompt) : ''}
                  onContinue={() => {
                    if ('live' in one || one.outcome.kind !== 'answered') return;
                    const messages = continued(one.request.body.messages ?? [], one.outcome.result);
                    setPlayground({ ...playground, messages });
                  }}
                  onIgnoreUnsupported={() => {
                    setPlayground({ ...playground, ignoresUnsupported: true });
                    run(requests.map((sent) => ({ ...sent, body: { ...sent.body, unsupported: 'ignore' } })));
                  }}
                  onUse={
                    canWrite
                      ? () => {
                          use(one.request);
                        }
                      : undefined
                  }
                />
              </Stack>
            ))}
          </div>
        </section>
        {past.length > 0 && <PastInvocations shown={shown} onShow={setChosen} />}
        {request !== undefined && <CallAsCode slug={prompt.slug} request={request} />}
      </Stack>
    </div>
  );
}

/** Says where the values come from. */
function OpenedInvocation({ id }: { id: string }): ReactNode {
  const { opened: texts } = useTexts().prompts.playground;
  const { data, error } = useContent(id);
  if (error !== null) return <ProblemAlert error={error} />;
  return (
    <Alert color="gray" icon={<IconInfoCircle />} aria-busy={data === undefined}>
      {data?.variables === undefined && data?.truncated === true ? texts.tooLong : texts.values}{' '}
      <TextLink to="/invocations/$id" params={{ id }} size="sm">
        {id}
      </TextLink>
    </Alert>
  );
}

function Settings(): ReactNode {
  const { stored, playground, setPlayground } = useWorkspace();
  const { playground: texts } = useTexts().prompts;
  const { data: providers = [] } = useProviders();
  const used = new Set([playground, ...playground.others].map(({ provider }) => provider));
  const first =
    providers.find(({ id, configured }) => configured && !used.has(id)) ??
    providers.find(({ configured }) => configured);
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
        {playground.others.map((other, index) => (
          <TargetRow
            key={other.key}
            name={texts.other(index + 2)}
            removal={texts.removeOther(index + 2)}
            providers={providers}
            value={other}
            onChange={(changed) => {
              set({ others: playground.others.with(index, { ...other, ...changed }) });
            }}
            onRemove={() => {
              set({ others: playground.others.filter(({ key }) => key !== other.key) });
            }}
          />
        ))}
        {playground.others.length < mostOthers && (
          <Group>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPlus size={14} />}
              onClick={() => {
                const added = { key: crypto.randomUUID(), provider: first?.id ?? '', model: '' };
                set({ others: [...playground.others, added] });
              }}
            >
              {texts.addOther}
            </Button>
          </Group>
        )}
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

/** What answers an invocation, as far as its request says so. */
function nameOf({ request: { body } }: Pick<Invocation, 'request'>, prompt: Schemas['Prompt']): string {
  const {
    provider = prompt.selected_provider,
    model = body.provider === undefined ? prompt.selected_model : undefined,
  } = body;
  return [provider, model].filter((part) => part !== undefined).join(' / ');
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
