import { Button, Group, NumberInput } from '@mantine/core';
import { IconAdjustments } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { useTexts } from '../../../../shared/texts.tsx';
import { summaryOf } from '../../content/generation-text.ts';
import type { DraftMistakes, PromptDraft } from '../../content/prompt-draft.ts';
import { Section } from '../section.tsx';
import { useServiceMistake } from '../service-mistakes.ts';
import { Disclosure } from './disclosure.tsx';
import { FallbackList } from './fallback-list.tsx';
import { FormatFields } from './format-fields.tsx';
import classes from './generation.module.css';
import { OptionList } from './option-list.tsx';
import { ParameterFields } from './parameter-fields.tsx';
import { ToolList } from './tool-list.tsx';

interface GenerationSectionProps {
  readonly draft: PromptDraft;
  readonly setDraft: (update: (draft: PromptDraft) => PromptDraft) => void;
  readonly providers: readonly Schemas['Provider'][];
  readonly mistakes: DraftMistakes['generation'];
  readonly isChecked: boolean;
  readonly isReadOnly: boolean;
}

/** How the answer is generated. Each part is folded until it is used, with what is set in one line. */
export function GenerationSection(props: GenerationSectionProps): ReactNode {
  const { draft, setDraft, providers, mistakes, isChecked, isReadOnly } = props;
  const texts = useTexts().prompts.generation;
  const mistakeAt = useServiceMistake();
  const summary = summaryOf(draft, texts);
  const set = (changed: Partial<PromptDraft>): void => {
    setDraft((current) => ({ ...current, ...changed }));
  };
  const all = Object.values(summary).flat();
  const [isShown, setShown] = useState(all.length > 0);
  const places = ['parameters', 'response_format', 'tools', 'tool_choice', 'provider_options', 'fallbacks', 'retries'];
  const isRefused = (...names: string[]): boolean => names.some((name) => mistakeAt(name) !== undefined);
  /** Whether a field of the page is wrong in these entries, once one has tried to save. */
  const isWrong = (entries: readonly { key: string }[]): boolean =>
    isChecked && [...mistakes.keys()].some((place) => entries.some(({ key }) => place.startsWith(`${key}.`)));
  const hasMistake = isRefused(...places) || (isChecked && mistakes.size > 0);
  const line = (parts: readonly string[]): string => parts.join(' · ');

  if (!isShown && !hasMistake) {
    return (
      <Section title={texts.title} description={texts.description}>
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconAdjustments size={14} />}
            onClick={() => {
              setShown(true);
            }}
          >
            {texts.show}
          </Button>
        </Group>
      </Section>
    );
  }
  return (
    <Section title={texts.title} description={all.length === 0 ? texts.description : line(all)}>
      <div className={classes.card}>
        <Disclosure
          title={texts.parameters.title}
          summary={line(summary.parameters)}
          hasMistake={isRefused('parameters')}
        >
          <ParameterFields
            value={draft.parameters}
            isReadOnly={isReadOnly}
            onChange={(parameters) => {
              set({ parameters });
            }}
          />
        </Disclosure>
        <Disclosure
          title={texts.format.title}
          summary={line(summary.format)}
          hasMistake={isRefused('response_format') || isWrong([{ key: 'format' }])}
        >
          <FormatFields
            format={draft.format}
            mistakes={mistakes}
            isReadOnly={isReadOnly}
            onChange={(format) => {
              set({ format });
            }}
          />
        </Disclosure>
        <Disclosure
          title={texts.tools.title}
          summary={line(summary.tools)}
          hasMistake={isRefused('tools', 'tool_choice') || isWrong(draft.tools)}
        >
          <ToolList value={draft} mistakes={mistakes} isChecked={isChecked} isReadOnly={isReadOnly} onChange={set} />
        </Disclosure>
        <Disclosure
          title={texts.options.title}
          summary={line(summary.options)}
          hasMistake={isRefused('provider_options') || isWrong(draft.providerOptions)}
        >
          <OptionList
            options={draft.providerOptions}
            providers={providers}
            suggested={draft.provider}
            mistakes={mistakes}
            isReadOnly={isReadOnly}
            onChange={(providerOptions) => {
              set({ providerOptions });
            }}
          />
        </Disclosure>
        <Disclosure
          title={texts.fallbacks.title}
          summary={line(summary.fallbacks)}
          hasMistake={isRefused('fallbacks', 'retries') || isWrong(draft.fallbacks)}
        >
          <FallbackList
            fallbacks={draft.fallbacks}
            providers={providers}
            mistakes={mistakes}
            isChecked={isChecked}
            isReadOnly={isReadOnly}
            onChange={(fallbacks) => {
              set({ fallbacks });
            }}
          />
          <NumberInput
            size="xs"
            label={texts.fallbacks.retries}
            description={texts.fallbacks.retriesDescription}
            min={0}
            max={2}
            clampBehavior="strict"
            allowDecimal={false}
            allowNegative={false}
            readOnly={isReadOnly}
            value={draft.retries}
            error={mistakeAt('retries')}
            onChange={(typed) => {
              set({ retries: Number(typed) });
            }}
          />
        </Disclosure>
      </div>
    </Section>
  );
}
