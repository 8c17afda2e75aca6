import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { ForScope } from '../../shared/for-scope.tsx';
import { focusMistake } from '../../shared/form-problem.ts';
import { LinkButton } from '../../shared/links.tsx';
import { useNotify } from '../../shared/notify.ts';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { UnsavedChanges } from '../../shared/unsaved-changes.tsx';
import { useSave } from '../../shared/use-save.tsx';
import { versioned, type Versioned } from '../../shared/versioned.ts';
import { eventFilter } from '../../texts/event-filter.ts';
import { bodyOf, fieldAt, fieldsOf, validateFields, type IntegrationFields } from './integration-fields.ts';
import { IntegrationInputs } from './integration-inputs.tsx';
import { integrationKey, storeIntegration } from './queries.ts';

const route = getRouteApi('/integrations/$id/edit');

/** The form of an integration. */
export function EditIntegrationScreen(): ReactNode {
  const { integrations: texts } = useTexts();
  const { id } = route.useParams();
  const read = useQuery({
    queryKey: integrationKey(id),
    queryFn: ({ signal }) => versioned(gateway.integrations.get(id, { signal })),
  });
  const name = read.data?.data.name ?? id;
  return (
    <Page
      title={texts.form.editTitle(name)}
      breadcrumbs={[
        { label: texts.title, to: '/integrations' },
        { label: name, to: '/integrations/$id', params: { id } },
      ]}
    >
      {read.data !== undefined ? (
        <ForScope scope="integrations:manage">
          <EditForm key={id} initial={read.data} />
        </ForScope>
      ) : read.isError ? (
        <ProblemAlert error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Skeleton height={320} maw={720} />
      )}
    </Page>
  );
}

function EditForm({ initial }: { initial: Versioned<Schemas['Integration']> }): ReactNode {
  const { integrations: texts, shared } = useTexts();
  const filterTexts = useOwnTexts(eventFilter);
  const { id } = initial.data;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const form = useForm<IntegrationFields>({
    initialValues: fieldsOf(initial.data),
    validate: (fields) => validateFields(fields, texts, filterTexts),
  });
  const { save, isSaving, error, dialog } = useSave<IntegrationFields, Schemas['Integration']>({
    form,
    initial,
    send: (fields, ifMatch) => versioned(gateway.integrations.update(id, bodyOf(fields), { ifMatch })),
    reload: () => versioned(gateway.integrations.get(id)),
    toFields: fieldsOf,
    toField: (place) => fieldAt(place, form.getValues().headers),
    labels: {
      name: texts.form.name,
      url: texts.form.url,
      eventTypes: texts.form.eventTypes,
      locationIds: texts.form.locations,
      filter: filterTexts.title,
      headers: texts.headers.title,
    },
    onSaved: (saved) => {
      storeIntegration(queryClient, saved);
      notify(texts.form.saved);
      void navigate({ to: '/integrations/$id', params: { id } });
    },
  });
  return (
    <form noValidate onSubmit={form.onSubmit(save, focusMistake)}>
      <UnsavedChanges isDirty={() => form.isDirty()} />
      {dialog}
      <Stack maw={720} gap="lg">
        {error !== undefined && error !== null && <ProblemAlert error={error} />}
        <IntegrationInputs form={form} />
        <Group gap="xs">
          <Button type="submit" loading={isSaving}>
            {shared.save}
          </Button>
          <LinkButton to="/integrations/$id" params={{ id }} variant="default">
            {shared.cancel}
          </LinkButton>
        </Group>
      </Stack>
    </form>
  );
}
