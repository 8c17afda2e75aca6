import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { focusMistake } from '../../shared/form-problem.ts';
import { LinkButton } from '../../shared/links.tsx';
import { useNotify } from '../../shared/notify.ts';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { UnsavedChanges } from '../../shared/unsaved-changes.tsx';
import { useSave } from '../../shared/use-save.tsx';
import { versioned, type Versioned } from '../../shared/versioned.ts';
import { bodyOf, fieldAt, fieldsOf, validateFields, written, type LocationFields } from './location-fields.ts';
import { LocationInputs } from './location-inputs.tsx';
import { locationKey, storeLocation } from './queries.ts';

const route = getRouteApi('/locations/$id/edit');

/** The form of a location. */
export function EditLocationScreen(): ReactNode {
  const { locations: texts } = useTexts();
  const { id } = route.useParams();
  const read = useQuery({
    queryKey: locationKey(id),
    queryFn: ({ signal }) => versioned(gateway.locations.get(id, { signal })),
  });
  const name = read.data?.data.name ?? id;
  return (
    <Page
      title={texts.form.editTitle(name)}
      breadcrumbs={[
        { label: texts.title, to: '/locations' },
        { label: name, to: '/locations/$id', params: { id } },
      ]}
    >
      {read.data !== undefined ? (
        <EditForm key={id} initial={read.data} />
      ) : read.isError ? (
        <ProblemAlert error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Skeleton height={320} maw={720} />
      )}
    </Page>
  );
}

function EditForm({ initial }: { initial: Versioned<Schemas['Location']> }): ReactNode {
  const { locations, shared } = useTexts();
  const { form: texts } = locations;
  const { id } = initial.data;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const form = useForm<LocationFields>({
    initialValues: fieldsOf(initial.data),
    validate: (fields) => validateFields(fields, locations),
  });
  const { save, isSaving, error, dialog } = useSave<LocationFields, Schemas['Location']>({
    form,
    initial,
    send: (fields, ifMatch) => versioned(gateway.locations.update(id, bodyOf(fields), { ifMatch })),
    reload: () => versioned(gateway.locations.get(id)),
    toFields: fieldsOf,
    toField: fieldAt,
    labels: {
      name: texts.name,
      currency: texts.currency,
      timeZone: texts.timeZone,
      fiscalDayEnd: texts.fiscalDayEnd,
      tax: texts.tax,
      fee: texts.fee,
      zones: texts.zones,
    },
    onSaved: (saved) => {
      storeLocation(queryClient, saved);
      notify(texts.saved);
      void navigate({ to: '/locations/$id', params: { id } });
    },
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((fields) => {
        save(written(fields));
      }, focusMistake)}
    >
      <UnsavedChanges isDirty={() => form.isDirty()} />
      {dialog}
      <Stack maw={720} gap="lg">
        {error !== undefined && error !== null && <ProblemAlert error={error} />}
        <LocationInputs form={form} isNew={false} />
        <Group gap="xs">
          <Button type="submit" loading={isSaving}>
            {shared.save}
          </Button>
          <LinkButton to="/locations/$id" params={{ id }} variant="default">
            {shared.cancel}
          </LinkButton>
        </Group>
      </Stack>
    </form>
  );
}
