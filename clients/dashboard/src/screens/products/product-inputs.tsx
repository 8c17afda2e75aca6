import { Anchor, Paper, Select, SimpleGrid, Stack, Switch, TagsInput, Text, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { useScope } from '../../app/session-context.ts';
import { imageUrl as limitsOfUrl, productDescription, productName, sku, tagsInput } from '../../generated/limits.ts';
import { fromLocal, toLocal } from '../../shared/filters.tsx';
import { TextLink } from '../../shared/links.tsx';
import { taxTexts } from '../../shared/tax-texts.ts';
import { useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { AmountInput } from './amount-input.tsx';
import { ModifierGroupsEditor } from './modifier-groups-editor.tsx';
import { ModifiersEditor } from './modifiers-editor.tsx';
import { isWebUrl, type ProductFields } from './product-fields.ts';
import { categoryOptions, useCategories } from './use-categories.ts';

/** The fields of a product of one location. */
export function ProductInputs({
  form,
  locationId,
  currency,
}: {
  form: UseFormReturnType<ProductFields>;
  locationId: string;
  currency: string;
}): ReactNode {
  const { products, locations } = useTexts();
  const { form: texts } = products;
  const own = useOwnTexts(taxTexts);
  const rateInput = {
    inputWrapperOrder: ['label', 'input', 'description', 'error'] as ('label' | 'input' | 'description' | 'error')[],
    inputMode: 'decimal',
    autoComplete: 'off',
    rightSection: locations.form.percent,
  } as const;
  const canWrite = useScope('catalog:write');
  const categories = useCategories(locationId);
  const options = categoryOptions(categories.data, form.values.category_id);
  const { image_url: imageUrl } = form.values;
  return (
    <Stack gap="md">
      <Paper withBorder p="lg">
        <Stack gap="lg">
          <TextInput
            label={texts.name}
            placeholder={texts.namePlaceholder}
            maxLength={productName.maxLength}
            required
            {...form.getInputProps('name')}
          />
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
            <Select
              label={texts.category}
              placeholder={texts.chooseCategory}
              description={
                categories.isSuccess &&
                options.length === 0 && (
                  <>
                    {texts.noCategories}{' '}
                    {canWrite && (
                      <TextLink to="/categories/new" search={{ location_id: locationId }} size="xs">
                        {texts.createCategory}
                      </TextLink>
                    )}
                  </>
                )
              }
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              data={options}
              searchable
              required
              {...form.getInputProps('category_id')}
              onChange={(value) => {
                form.setFieldValue('category_id', value ?? '');
              }}
            />
            <AmountInput currency={currency} label={texts.price} required {...form.getInputProps('price')} />
          </SimpleGrid>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
            <TextInput
              label={own.ofProduct}
              description={own.ofProductDescription}
              {...rateInput}
              {...form.getInputProps('tax')}
            />
            <TextInput
              label={own.ofTakeAway}
              description={own.ofTakeAwayDescription}
              {...rateInput}
              {...form.getInputProps('takeAwayTax')}
            />
          </SimpleGrid>
          <Switch
            label={texts.active}
            description={texts.activeDescription}
            {...form.getInputProps('active', { type: 'checkbox' })}
          />
          <TextInput
            type="datetime-local"
            label={own.unavailableUntil}
            description={own.unavailableUntilDescription}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            maw={260}
            {...form.getInputProps('unavailableUntil')}
            value={toLocal(form.values.unavailableUntil)}
            onChange={(event) => {
              form.setFieldValue('unavailableUntil', fromLocal(event.currentTarget.value) ?? '');
            }}
          />
        </Stack>
      </Paper>
      <ModifierGroupsEditor form={form} currency={currency} />
      <ModifiersEditor form={form} currency={currency} />
      <Paper withBorder p="lg">
        <Stack gap="lg">
          <Textarea
            label={texts.description}
            placeholder={texts.descriptionPlaceholder}
            maxLength={productDescription.maxLength}
            autosize
            minRows={2}
            maxRows={10}
            {...form.getInputProps('description')}
          />
          <TagsInput
            label={texts.tags}
            description={texts.tagsDescription}
            maxTags={tagsInput.maxItems}
            {...form.getInputProps('tags')}
          />
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
            <TextInput
              label={texts.sku}
              description={texts.skuDescription}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              maxLength={sku.maxLength}
              {...form.getInputProps('sku')}
            />
            <TextInput
              label={texts.imageUrl}
              description={
                isWebUrl(imageUrl) && (
                  <Anchor href={imageUrl} target="_blank" rel="noopener noreferrer" size="xs">
                    {texts.openImage}
                  </Anchor>
                )
              }
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              inputMode="url"
              autoComplete="off"
              maxLength={limitsOfUrl.maxLength}
              {...form.getInputProps('image_url')}
            />
          </SimpleGrid>
        </Stack>
      </Paper>
      {!canWrite && (
        <Text c="dimmed" size="sm">
          {texts.readOnly}
        </Text>
      )}
    </Stack>
  );
}
