import { Button, Group, Paper, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { categoryName } from '../../generated/limits.ts';
import { focusMistake, showMistakes } from '../../shared/form-problem.ts';
import { LinkButton } from '../../shared/links.tsx';
import { useNotify } from '../../shared/notify.ts';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { UnsavedChanges } from '../../shared/unsaved-changes.tsx';
import { useLocations } from '../../shared/use-locations.ts';
import { versioned } from '../../shared/versioned.ts';
import { storeCategory } from './queries.ts';

const route = getRouteApi('/categories/new');

/** The form of a new category. Its products come next. */
export function NewCategoryScreen(): ReactNode {
  const { products, shared } = useTexts();
  const { categories: texts } = products;
  const search = route.useSearch();
  const locations = useLocations();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const form = useForm({
    initialValues: { location_id: search.location_id ?? '', name: '' },
    validate: {
      name: (name) => (name.trim() === '' ? texts.nameMissing : null),
    },
  });
  const options = locations.options(form.values.location_id);
  // With a single location there is nothing to choose.
  const only = options.length === 1 ? options[0]?.value : undefined;
  const locationId = form.values.location_id === '' ? only : form.values.location_id;
  const create = useMutation({
    mutationFn: (body: { location_id: string; name: string }) => versioned(gateway.categories.create(body)),
    onSuccess: (created) => {
      form.resetDirty();
      storeCategory(queryClient, created);
      notify(texts.created(created.data.name));
      void navigate({
        to: '/products',
        search: { location_id: created.data.location_id, category_id: created.data.id },
      });
    },
    onError: (error) => {
      showMistakes(form, error);
    },
  });
  return (
    <Page title={texts.createTitle} breadcrumbs={[{ label: products.tabs.categories, to: '/categories' }]}>
      <form
        noValidate
        onSubmit={form.onSubmit(({ name }) => {
          if (locationId === undefined) form.setFieldError('location_id', products.form.locationMissing);
          else create.mutate({ location_id: locationId, name });
        }, focusMistake)}
      >
        <UnsavedChanges isDirty={() => form.isDirty()} />
        <Stack maw={560} gap="lg">
          {create.isError && <ProblemAlert error={create.error} />}
          {locations.query.isError && <ProblemAlert error={locations.query.error} />}
          <Paper withBorder p="lg">
            <Stack gap="lg">
              <Select
                label={texts.location}
                placeholder={products.form.chooseLocation}
                data={options}
                searchable
                required
                allowDeselect={false}
                value={locationId ?? null}
                error={form.errors['location_id']}
                onChange={(value) => {
                  form.setFieldValue('location_id', value ?? '');
                }}
              />
              <TextInput
                label={texts.name}
                placeholder={texts.namePlaceholder}
                maxLength={categoryName.maxLength}
                required
                {...form.getInputProps('name')}
              />
            </Stack>
          </Paper>
          <Group gap="xs">
            <Button type="submit" loading={create.isPending}>
              {texts.submitCreate}
            </Button>
            <LinkButton to="/categories" variant="default">
              {shared.cancel}
            </LinkButton>
          </Group>
        </Stack>
      </form>
    </Page>
  );
}
