import { Button, Group } from '@mantine/core';
import { IconAdjustments } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import type { DraftMistakes, PromptDraft } from '../content/prompt-draft.ts';
import { Section } from '../editor/section.tsx';
import { useServiceMistake } from '../editor/service-mistakes.ts';
import { Disclosure } from './disclosure.tsx';
import classes from './generation.module.css';
import { generationSummary, sections } from './sections.ts';

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
  const words = useTexts().prompts.generation;
  const mistakeAt = useServiceMistake();
  const summary = generationSummary(draft.generation, words);
  const all = Object.values(summary).flat();
  const [isShown, setShown] = useState(all.length > 0);
  const line = (parts: readonly string[] = []): string => parts.join(' · ');
  const parts = Object.entries(sections).map(([name, section]) => {
    const own: DraftMistakes['generation'][string] = mistakes[name] ?? new Map();
    const isRefused = Object.keys(section.cleared).some((member) => mistakeAt(member) !== undefined);
    return { name, ...section, own, hasMistake: isRefused || (isChecked && own.size > 0) };
  });

  if (!isShown && !parts.some(({ hasMistake }) => hasMistake)) {
    return (
      <Section title={words.title} description={words.description}>
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconAdjustments size={14} />}
            onClick={() => {
              setShown(true);
            }}
          >
            {words.show}
          </Button>
        </Group>
      </Section>
    );
  }
  return (
    <Section title={words.title} description={all.length === 0 ? words.description : line(all)}>
      <div className={classes.card}>
        {parts.map(({ name, texts, Fields, own, hasMistake }) => (
          <Disclosure
            key={name}
            title={texts[words.language].title}
            summary={line(summary[name])}
            hasMistake={hasMistake}
          >
            <Fields
              value={draft.generation[name]}
              mistakes={own}
              isChecked={isChecked}
              isReadOnly={isReadOnly}
              providers={providers}
              provider={draft.provider}
              onChange={(value) => {
                setDraft((current) => ({ ...current, generation: { ...current.generation, [name]: value } }));
              }}
            />
          </Disclosure>
        ))}
      </div>
    </Section>
  );
}
