import { Button, Collapse, Group, NativeSelect, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { contentWarnings, listVariables } from 'prompt-gateway-client/template';
import { useCallback, useDeferredValue, useId, useMemo, type ReactNode } from 'react';
import { promptDescription, promptName, slug } from '../../../generated/limits.ts';
import { useTexts } from '../../../shared/texts.tsx';
import { CodeEditor } from '../code/lazy-code.tsx';
import type { KnownVariable } from '../code/template-marks.ts';
import { ContentWarnings } from '../content/content-warnings.tsx';
import { Preview } from '../content/preview.tsx';
import { definitionsOf, type DraftMistakes, type PromptDraft } from '../content/prompt-draft.ts';
import { TargetSelect } from '../content/target-select.tsx';
import { VariableValuesForm } from '../content/variable-values-form.tsx';
import type { VariableValues } from '../content/variable-values.ts';
import { useProviders } from '../prompt-queries.ts';
import { GenerationSection } from '../generation/generation-section.tsx';
import { MessageList } from './message-list.tsx';
import classes from './prompt-form.module.css';
import { Section } from './section.tsx';
import { VariableDefinitions } from './variable-definitions.tsx';

interface PromptFormProps {
  readonly draft: PromptDraft;
  readonly setDraft: (update: (draft: PromptDraft) => PromptDraft) => void;
  readonly values: VariableValues;
  readonly setValues: (values: VariableValues) => void;
  readonly mistakes: DraftMistakes;
  /** Whether mistakes of empty fields are shown: after the first attempt to save. */
  readonly isChecked: boolean;
  readonly isReadOnly: boolean;
  readonly isNew: boolean;
}

/** The fields of a prompt, with a preview of what an invocation would send. */
export function PromptForm(props: PromptFormProps): ReactNode {
  const { draft, setDraft, values, setValues, mistakes, isChecked, isReadOnly, isNew } = props;
  const { prompts } = useTexts();
  const texts = prompts.editor;
  const { data: providers = [] } = useProviders();
  const { messages, variables } = draft;

  // Typing stays fast in large prompts: what follows from the text may come a moment later.
  const later = useDeferredValue(messages);
  const definitions = useMemo(() => definitionsOf(variables), [variables]);
  const used = useMemo(() => listVariables({ messages: later, variables: definitions }), [later, definitions]);
  const warnings = useMemo(() => contentWarnings({ messages: later, variables: definitions }), [later, definitions]);
  const undeclared = used.filter(({ name }) => !Object.hasOwn(definitions, name));
  const known = useMemo(
    () => used.map((variable) => knownVariable(variable, definitions, prompts.hints.details)),
    [used, definitions, prompts],
  );

  const setField = <Name extends keyof PromptDraft>(name: Name, value: PromptDraft[Name]): void => {
    setDraft((current) => ({ ...current, [name]: value }));
  };
  const setMessages = useCallback(
    (change: (all: PromptDraft['messages']) => PromptDraft['messages']) => {
      setDraft((current) => ({ ...current, messages: change(current.messages) }));
    },
    [setDraft],
  );
  const setVariables = useCallback(
    (change: (all: PromptDraft['variables']) => PromptDraft['variables']) => {
      setDraft((current) => ({ ...current, variables: change(current.variables) }));
    },
    [setDraft],
  );

  return (
    <div className={classes.columns}>
      <Stack gap="xl" miw={0}>
        <Section title={texts.basics}>
          <div className={classes.pair}>
            <TextInput
              label={texts.name}
              withAsterisk
              maxLength={promptName.maxLength}
              readOnly={isReadOnly}
              value={draft.name}
              error={mistakes.name && (isChecked || draft.name !== '') && texts.nameMistake}
              onChange={(event) => {
                setField('name', event.currentTarget.value);
              }}
            />
            <TextInput
              label={texts.slug}
              withAsterisk={!isNew}
              maxLength={slug.maxLength}
              readOnly={isReadOnly}
              classNames={{ input: classes.mono ?? '' }}
              placeholder={isNew ? texts.slugPlaceholder : undefined}
              value={draft.slug}
              error={mistakes.slug && texts.slugMistake}
              onChange={(event) => {
                setField('slug', event.currentTarget.value);
              }}
            />
          </div>
          <Textarea
            label={texts.description}
            placeholder={texts.descriptionPlaceholder}
            autosize
            minRows={1}
            maxRows={6}
            maxLength={promptDescription.maxLength}
            readOnly={isReadOnly}
            value={draft.description}
            onChange={(event) => {
              setField('description', event.currentTarget.value);
            }}
          />
        </Section>

        <Section title={texts.messages} description={texts.messagesDescription}>
          <MessageList messages={messages} variables={known} isReadOnly={isReadOnly} onChange={setMessages} />
          <ContentWarnings warnings={warnings} />
        </Section>

        <Section title={texts.variables} description={texts.variablesDescription}>
          <VariableDefinitions
            variables={variables}
            undeclared={undeclared}
            mistakes={mistakes.variables}
            isReadOnly={isReadOnly}
            onChange={setVariables}
          />
          <Switch
            label={texts.strict}
            description={texts.strictDescription}
            checked={draft.strict}
            disabled={isReadOnly}
            onChange={(event) => {
              setField('strict', event.currentTarget.checked);
            }}
          />
        </Section>

        <Section title={texts.model} description={texts.modelDescription}>
          <TargetSelect
            providers={providers}
            value={draft}
            placeholder={texts.noProvider}
            isReadOnly={isReadOnly}
            onChange={({ provider, model }) => {
              setDraft((current) => ({ ...current, provider, model }));
            }}
          />
        </Section>

        <GenerationSection
          draft={draft}
          setDraft={setDraft}
          providers={providers}
          mistakes={mistakes.generation}
          isChecked={isChecked}
          isReadOnly={isReadOnly}
        />

        <NativeSelect
          label={texts.invocationContent}
          description={texts.invocationContentDescription}
          disabled={isReadOnly}
          data={Object.entries(texts.invocationContentChoices).map(([value, label]) => ({ value, label }))}
          value={draft.invocationContent}
          onChange={(event) => {
            setField('invocationContent', event.currentTarget.value);
          }}
        />

        <TestSettings
          value={draft.testSettings}
          mistake={mistakes.testSettings}
          isReadOnly={isReadOnly}
          onChange={(text) => {
            setField('testSettings', text);
          }}
        />
      </Stack>

      <aside className={classes.side} aria-label={texts.side}>
        <Stack gap="xl">
          <VariableValuesForm variables={used} values={values} onChange={setValues} />
          <Stack gap="sm">
            <Text fw={600} size="sm">
              {prompts.preview.title}
            </Text>
            <Preview messages={later} definitions={definitions} values={values.values} />
          </Stack>
        </Stack>
      </aside>
    </div>
  );
}

function TestSettings({
  value,
  mistake,
  isReadOnly,
  onChange,
}: {
  value: string;
  mistake: DraftMistakes['testSettings'];
  isReadOnly: boolean;
  onChange: (text: string) => void;
}): ReactNode {
  const texts = useTexts().prompts.editor;
  const [isOpen, { toggle }] = useDisclosure(value !== '');
  const hintId = useId();
  return (
    <Stack gap="xs">
      <Group>
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-expanded={isOpen}
          leftSection={isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
          onClick={toggle}
        >
          {texts.testSettings}
        </Button>
      </Group>
      <Collapse expanded={isOpen}>
        <CodeEditor
          language="json"
          label={texts.testSettings}
          value={value}
          invalid={mistake !== undefined}
          describedBy={hintId}
          isReadOnly={isReadOnly}
          placeholder="{}"
          onChange={onChange}
        />
        <Text id={hintId} size="xs" mt={4} c={mistake === undefined ? 'dimmed' : 'var(--mantine-color-error)'}>
          {mistake === undefined ? texts.testSettingsDescription : texts.testSettingsMistakes[mistake]}
        </Text>
      </Collapse>
    </Stack>
  );
}

/** What the editor of a message shows beside the name of a variable. */
function knownVariable(
  { name, default: fallback, description }: ReturnType<typeof listVariables>[number],
  definitions: ReturnType<typeof definitionsOf>,
  details: { required: string; undeclared: string; default: (text: string) => string },
): KnownVariable {
  const definition = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  const parts = [
    definition === undefined ? details.undeclared : '',
    definition?.required === true ? details.required : '',
    fallback === undefined ? '' : details.default(fallback.slice(0, 40)),
    description?.slice(0, 80) ?? '',
  ];
  return { name, isDeclared: definition !== undefined, detail: parts.filter((part) => part !== '').join(' · ') };
}
