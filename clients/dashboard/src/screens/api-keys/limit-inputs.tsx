import { Fieldset, MultiSelect, NumberInput, SimpleGrid, Stack, TagsInput, Text } from '@mantine/core';
import type { GetInputPropsReturnType } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { apiKeyLimitsInput, apiKeyTags } from '../../generated/limits.ts';
import { LocationPicker } from '../../shared/location-picker.tsx';
import { useTexts } from '../../shared/texts.tsx';
import type { LimitFields } from './limit-fields.ts';

/** Prompts that are offered by name. Others stay selected under their id. */
const offered = 500;

/** What a key can reach. Without an entry, there is no limit. */
export function LimitInputs({ of }: { of: (name: keyof LimitFields & string) => GetInputPropsReturnType }): ReactNode {
  const { limits: texts } = useTexts().apiKeys;
  const canRead = useScope('prompts:read');
  const prompts = useQuery({
    queryKey: ['prompts', 'names'],
    queryFn: ({ signal }) => gateway.prompts.list({ limit: 100 }, { signal }).toArray({ limit: offered }),
    enabled: canRead,
  });
  const providers = useQuery({
    queryKey: ['providers'],
    queryFn: ({ signal }) => gateway.providers.list({ signal }),
    staleTime: 60_000,
    enabled: canRead,
  });
  const known = prompts.data ?? [];
  const selected = of('prompts').value as string[];
  const { max_output_tokens: tokens, requests_per_minute: requests } = apiKeyLimitsInput;
  const suggestions = (providers.data ?? [])
    .filter(({ configured }) => configured)
    .flatMap(({ id, models }) => [`${id}/*`, ...models.map((model) => `${id}/${model}`)]);
  return (
    <Fieldset legend={texts.title} p="lg">
      <Stack gap="lg">
        <Text size="sm" c="dimmed">
          {texts.description}
        </Text>
        <MultiSelect
          label={texts.prompts}
          placeholder={selected.length === 0 ? texts.allPrompts : undefined}
          data={[
            ...known.map(({ id, name }) => ({ value: id, label: name })),
            ...selected
              .filter((id) => !known.some((prompt) => prompt.id === id))
              .map((id) => ({ value: id, label: id })),
          ]}
          maxValues={apiKeyLimitsInput.prompts.maxItems}
          searchable
          clearable
          {...of('prompts')}
        />
        <LocationPicker texts={texts} {...of('locations')} />
        <TagsInput
          label={texts.models}
          description={texts.modelsDescription}
          placeholder={(of('models').value as string[]).length === 0 ? texts.allModels : undefined}
          data={[...new Set(suggestions)]}
          limit={50}
          maxTags={apiKeyLimitsInput.models.maxItems}
          clearable
          {...of('models')}
        />
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
          <NumberInput
            label={texts.maxOutputTokens}
            description={texts.maxOutputTokensDescription}
            placeholder={texts.unlimited}
            min={tokens.minimum}
            max={tokens.maximum}
            allowDecimal={false}
            allowNegative={false}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            {...of('maxOutputTokens')}
          />
          <NumberInput
            label={texts.requestsPerMinute}
            description={texts.requestsPerMinuteDescription}
            placeholder={texts.unlimited}
            min={requests.minimum}
            max={requests.maximum}
            allowDecimal={false}
            allowNegative={false}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            {...of('requestsPerMinute')}
          />
        </SimpleGrid>
        <TagsInput
          label={texts.tags}
          description={texts.tagsDescription}
          maxTags={apiKeyTags.maxProperties}
          clearable
          {...of('tags')}
        />
      </Stack>
    </Fieldset>
  );
}
