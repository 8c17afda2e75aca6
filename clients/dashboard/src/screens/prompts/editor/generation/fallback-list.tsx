import { Button, Group, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useTexts } from '../../../../shared/texts.tsx';
import { newFallback, type DraftFallback, type GenerationMistake } from '../../content/generation-draft.ts';
import { TargetSelect } from '../../content/target-select.tsx';
import { useServiceMistake } from '../service-mistakes.ts';
import { ListButtons } from './list-buttons.tsx';

/** The most fallbacks that the service takes. */
const mostFallbacks = 5;

/** Providers and models that are called in this order if the selected one fails. */
export function FallbackList({
  fallbacks,
  providers,
  mistakes,
  isChecked,
  isReadOnly,
  onChange,
}: {
  fallbacks: readonly DraftFallback[];
  providers: readonly Schemas['Provider'][];
  mistakes: ReadonlyMap<string, GenerationMistake>;
  isChecked: boolean;
  isReadOnly: boolean;
  onChange: (fallbacks: readonly DraftFallback[]) => void;
}): ReactNode {
  const texts = useTexts().prompts.generation;
  const mistakeAt = useServiceMistake();
  return (
    <>
      <Text size="xs" c="dimmed">
        {texts.fallbacks.description}
      </Text>
      {fallbacks.map((fallback, index) => {
        const mistake =
          isChecked && mistakes.has(`${fallback.key}.provider`)
            ? texts.mistakes.provider
            : mistakeAt(`fallbacks.${index}`);
        return (
          <div key={fallback.key} role="group" aria-label={texts.fallbacks.label(index + 1)}>
            <Group gap={4} wrap="nowrap" mb={2}>
              <Text size="sm" fw={500}>
                {texts.fallbacks.label(index + 1)}
              </Text>
              {!isReadOnly && (
                <ListButtons items={fallbacks} index={index} texts={texts.fallbacks} onChange={onChange} />
              )}
            </Group>
            <TargetSelect
              providers={providers}
              value={fallback}
              placeholder={texts.fallbacks.choose}
              isReadOnly={isReadOnly}
              onChange={(target) => {
                onChange(fallbacks.map((one) => (one.key === fallback.key ? { ...one, ...target } : one)));
              }}
            />
            {mistake !== undefined && (
              <Text size="xs" mt={4} c="var(--mantine-color-error)">
                {mistake}
              </Text>
            )}
          </div>
        );
      })}
      {!isReadOnly && fallbacks.length < mostFallbacks && (
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => {
              onChange([...fallbacks, newFallback('')]);
            }}
          >
            {texts.fallbacks.add}
          </Button>
        </Group>
      )}
    </>
  );
}
