import { Alert, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconInfoCircle, IconPlayerPlay, IconPlayerStop, IconTestPipe } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import { useRef, useState, type ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { TextLink } from '../../../shared/links.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { useContent } from '../../invocations/queries.ts';
import { chosenVersion } from '../content/run-select.tsx';
import { VariableValuesForm } from '../content/variable-values-form.tsx';
import { jsonMistake, missingOf } from '../content/variable-values.ts';
import type { Parameters } from '../generation/parameters.tsx';
import type { Invocation, InvocationRequest } from '../workspace/use-invocations.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { AnswerDifference, type NamedAnswer } from './answer-difference.tsx';
import { CallAsCode } from './call-as-code.tsx';
import { Conversation } from './conversation.tsx';
import { InvocationView } from './invocation-view.tsx';
import { PastInvocations } from './past-invocations.tsx';
import classes from './playground.module.css';
import { useDraft, useRuns } from './runs.ts';
import { Settings } from './settings.tsx';
import { continued } from './turns.ts';

/** Invokes the prompt with the values of the form: what is in the editor, or what is saved. */
export function PlaygroundScreen(): ReactNode {
  const { stored, values, setValues, setDraft, isDirty, playground, setPlayground, setTestTargets, invocations } =
    useWorkspace();
  const { playground: texts } = useTexts().prompts;
  const canInvoke = useScope('prompts:invoke');
  const canWrite = useScope('prompts:write');
  const canRead = useScope('invocations:read');
  const navigate = useNavigate();
  const { invocation } = useSearch({ from: '/prompts/$promptId/playground' });
  const { data: prompt } = stored;
  const draft = useDraft(canWrite);
  const { variables, requests, error } = useRuns(draft);
  const [chosen, setChosen] = useState<number>();
  const [wasRun, setWasRun] = useState(false);
  const result = useRef<HTMLElement>(null);
  const { past, running } = invocations;
  const isRunning = running.length > 0;
  const shown = running[0]?.group ?? chosen ?? past[0]?.group;
  const answers = [...running, ...past].filter(({ group }) => group === shown).sort((a, b) => a.id - b.id);
  const names = namesOf(answers, prompt, texts.draft);
  const compared = answers.flatMap((one, index): NamedAnswer[] =>
    'outcome' in one && one.outcome.kind === 'answered' ? [{ name: names[index] ?? '', outcome: one.outcome }] : [],
  );
  const isWrong = jsonMistake(values) !== undefined;
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
    const targets = [playground, ...playground.others].map((other) => {
      const { provider, model } = other.run === undefined ? other : playground;
      const version = chosenVersion(other.run ?? playground.run, prompt);
      return {
        key: crypto.randomUUID(),
        provider: provider === '' ? selected : provider,
        model: provider === '' && model === '' ? selectedModel : model,
        ...(version !== undefined && { version }),
      };
    });
    setTestTargets(targets);
    void navigate({ to: '/prompts/$promptId/test-runs', params: { promptId: prompt.id } });
  };

  return (
    <>
      <div className={classes.columns}>
        <Stack gap="md" miw={0}>
          {isDirty && (
            <Alert color={draft === undefined ? 'yellow' : 'gray'} icon={<IconInfoCircle />}>
              {draft === undefined ? texts.unsaved(prompt.version) : texts.runsDraft}
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
              {error !== null && <ProblemAlert error={error} />}
            </Stack>
          </Paper>
          <Conversation
            turns={playground.messages}
            onChange={(messages) => {
              setPlayground({ ...playground, messages });
            }}
          />
          <Settings draft={draft} />
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
              {answers.map((one, index) => (
                <Stack key={one.id} gap="xs" miw={0} role="group" aria-label={names[index] || texts.answer}>
                  {answers.length > 1 && (
                    <Text size="sm" fw={600} ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                      {names[index]}
                    </Text>
                  )}
                  <InvocationView
                    invocation={one}
                    name={answers.length > 1 ? (names[index] ?? '') : ''}
                    canRead={canRead}
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
          {compared.length === 2 && compared[0] !== undefined && compared[1] !== undefined && (
            <AnswerDifference first={compared[0]} second={compared[1]} />
          )}
          {past.length > 0 && <PastInvocations shown={shown} onShow={setChosen} />}
          {request !== undefined && request.body.draft === undefined && (
            <CallAsCode slug={prompt.slug} request={request} />
          )}
        </Stack>
      </div>
      <Paper withBorder shadow="md" p="sm" className={classes.bar}>
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
          <Text size="xs" c="dimmed" {...(canInvoke && { visibleFrom: 'xs' })}>
            {canInvoke ? texts.hint : texts.noScope}
          </Text>
        </Group>
      </Paper>
    </>
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

/**
 * What answers each invocation, as far as its request says so: the version, if they differ in it, and the model, if they
 * differ in it or in nothing.
 */
function namesOf(
  invocations: readonly Pick<Invocation, 'request'>[],
  prompt: Schemas['Prompt'],
  draftName: string,
): string[] {
  const runs = invocations.map(({ request: { body } }) =>
    body.draft === undefined ? (body.label ?? `v${body.version ?? prompt.version}`) : draftName,
  );
  const targets = invocations.map(({ request: { body } }) => {
    const { provider = prompt.selected_provider } = body;
    const { model = body.provider === undefined ? prompt.selected_model : undefined } = body;
    return [provider, model].filter((part) => part !== undefined).join(' / ');
  });
  const [isRunNamed, isTargetNamed] = [runs, targets].map((some) => new Set(some).size > 1);
  return invocations.map((_, index) =>
    [isRunNamed && runs[index], (isTargetNamed || !isRunNamed) && targets[index]].filter(Boolean).join(' · '),
  );
}
