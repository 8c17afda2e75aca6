import { Button, Fieldset, Group, Paper, Skeleton, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { categoryName } from '../../generated/limits.ts';
import { ArchiveButton } from '../../shared/archive-button.tsx';
import { CopyableId } from '../../shared/copy.tsx';
import { focusMistake } from '../../shared/form-problem.ts';
import { LinkButton } from '../../shared/links.tsx';
import { useNotify } from '../../shared/notify.ts';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { UnsavedChanges } from '../../shared/unsaved-changes.tsx';
import { useLocations } from '../../shared/use-locations.ts';
import { useSave } from '../../shared/use-save.tsx';
import { versioned, type Versioned } from '../../shared/versioned.ts';
import { CategoryStatus } from './category-status.tsx';
import { categoriesKey, storeCategory } from './queries.ts';

const route = getRouteApi('/categories/$id');

/** One category, as a form. */
export function CategoryScreen(): ReactNode {
  const { products } = useTexts();
  const { categories: texts } = products;
  const { id } = route.useParams();
  const canWrite = useScope('catalog:write');
  const queryClient = useQueryClient();
  const locations = useLocations();
  const read = useQuery({
    queryKey: [...categoriesKey, id],
    queryFn: ({ signal }) => versioned(gateway.categories.get(id, { signal })),
  });
  const category = read.data?.data;
  const location =
    category === undefined
      ? []
      : [
          {
            label: locations.nameOf(category.location_id),
            to: '/locations/$id' as const,
            params: { id: category.location_id },
          },
        ];
  return (
    <Page
      title={category?.name ?? id}
      badge={category && <CategoryStatus archived={category.archived} />}
      description={<CopyableId value={id} label={texts.id} withLabel />}
      breadcrumbs={[{ label: products.tabs.categories, to: '/categories' }, ...location]}
      actions={
        category &&
        canWrite && (
          <ArchiveButton
            name={category.name}
            isArchived={category.archived}
            text={texts.archiveText}
            send={async (archived) => {
              const saved = await versioned(gateway.categories.update(id, { archived }));
              storeCategory(queryClient, saved);
            }}
          />
        )
      }
    >
      {read.data !== undefined ? (
        <CategoryForm key={`${id} ${String(read.data.data.archived)}`} initial={read.data} canWrite={canWrite} />
      ) : read.isError ? (
        <ProblemAlert error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Skeleton height={160} maw={560} />
      )}
    </Page>
  );
}

interface CategoryFields extends Record<string, unknown> {
  name: string;
}

function CategoryForm({
  initial,
  canWrite,
}: {
  initial: Versioned<Schemas['Category']>;
  canWrite: boolean;
}): ReactNode {
  const { products, shared } = useTexts();
  const { categories: texts } = products;
  const { id, location_id } = initial.data;
  const queryClient = useQueryClient();
  const notify = useNotify();
  const form = useForm<CategoryFields>({
    initialValues: { name: initial.data.name },
    validate: { name: (name) => (name.trim() === '' ? texts.nameMissing : null) },
  });
  const { save, isSaving, error, dialog } = useSave<CategoryFields, Schemas['Category']>({
    form,
    initial,
    send: ({ name }, ifMatch) => versioned(gateway.categories.update(id, { name }, { ifMatch })),
    reload: () => versioned(gateway.categories.get(id)),
    toFields: ({ name }) => ({ name }),
    labels: { name: texts.name },
    onSaved: (saved) => {
      storeCategory(queryClient, saved);
      notify(texts.saved);
    },
  });
  return (
    <form noValidate onSubmit={form.onSubmit(save, focusMistake)}>
      <UnsavedChanges isDirty={() => form.isDirty()} />
      {dialog}
      <Stack maw={560} gap="lg">
        {error !== undefined && error !== null && <ProblemAlert error={error} />}
        <Paper withBorder p="lg">
          <Fieldset variant="unstyled" m={0} disabled={!canWrite}>
            <TextInput label={texts.name} maxLength={categoryName.maxLength} required {...form.getInputProps('name')} />
          </Fieldset>
        </Paper>
        <Group gap="xs">
          {canWrite && (
            <Button type="submit" loading={isSaving}>
              {shared.save}
            </Button>
          )}
          <LinkButton to="/products" search={{ location_id, category_id: id }} variant="default">
            {texts.products}
          </LinkButton>
        </Group>
      </Stack>
    </form>
  );
}
