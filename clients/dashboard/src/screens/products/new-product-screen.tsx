import { Button, Group, Paper, Select, Skeleton, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { focusMistake, showMistakes } from '../../shared/form-problem.ts';
import { LinkButton } from '../../shared/links.tsx';
import { modifierTexts } from '../../shared/modifier-texts.ts';
import { useNotify } from '../../shared/notify.ts';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { UnsavedChanges } from '../../shared/unsaved-changes.tsx';
import { useLocations } from '../../shared/use-locations.ts';
import { versioned } from '../../shared/versioned.ts';
import { emptyFields, fieldAt, newBodyOf, validateFields, type ProductFields } from './product-fields.ts';
import { ProductInputs } from './product-inputs.tsx';
import { storeProduct } from './queries.ts';

const route = getRouteApi('/products/new');

/** The form of a new product. The location comes first: it decides categories and currency. */
export function NewProductScreen(): ReactNode {
  const all = useTexts();
  const { products, shared } = all;
  const { form: texts } = products;
  const modifiers = useOwnTexts(modifierTexts);
  const { location_id, category_id } = route.useSearch();
  const locations = useLocations();
  const [chosen, setChosen] = useState(location_id);
  const options = locations.options(chosen);
  const locationId = chosen ?? (options.length === 1 ? options[0]?.value : undefined);
  const currency = locations.find(locationId)?.currency ?? '';
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const form = useForm<ProductFields>({
    initialValues: emptyFields(category_id),
    validate: (fields) => validateFields(fields, currency, all, modifiers),
  });
  const create = useMutation({
    mutationFn: (fields: ProductFields) =>
      versioned(gateway.products.create(newBodyOf(fields, currency, locationId ?? ''))),
    onSuccess: (created) => {
      form.resetDirty();
      storeProduct(queryClient, created);
      notify(texts.created(created.data.name));
      void navigate({ to: '/products', search: { location_id: created.data.location_id } });
    },
    onError: (error) => {
      showMistakes(form, error, fieldAt);
    },
  });
  return (
    <Page title={texts.createTitle} breadcrumbs={[{ label: products.title, to: '/products' }]}>
      <form
        noValidate
        onSubmit={form.onSubmit((fields) => {
          create.mutate(fields);
        }, focusMistake)}
      >
        <UnsavedChanges isDirty={() => form.isDirty()} />
        <Stack maw={720} gap="md">
          {create.isError && <ProblemAlert error={create.error} />}
          {locations.query.isError && <ProblemAlert error={locations.query.error} />}
          {locations.query.data === undefined ? (
            <Skeleton height={90} />
          ) : (
            <Paper withBorder p="lg">
              <Select
                label={texts.location}
                placeholder={texts.chooseLocation}
                data={options}
                searchable
                required
                allowDeselect={false}
                value={locationId ?? null}
                onChange={(value) => {
                  setChosen(value ?? undefined);
                  form.setFieldValue('category_id', '');
                }}
              />
            </Paper>
          )}
          {locationId !== undefined && currency !== '' && (
            <>
              <ProductInputs form={form} locationId={locationId} currency={currency} />
              <Group gap="xs">
                <Button type="submit" loading={create.isPending}>
                  {texts.submitCreate}
                </Button>
                <LinkButton to="/products" search={{ location_id: locationId }} variant="default">
                  {shared.cancel}
                </LinkButton>
              </Group>
            </>
          )}
          {locations.query.data?.length === 0 && (
            <Group>
              <LinkButton to="/locations/new">{products.createLocation}</LinkButton>
            </Group>
          )}
        </Stack>
      </form>
    </Page>
  );
}
