import { Button, Group, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { focusMistake, showMistakes } from '../../shared/form-problem.ts';
import { LinkButton } from '../../shared/links.tsx';
import { useNotify } from '../../shared/notify.ts';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { UnsavedChanges } from '../../shared/unsaved-changes.tsx';
import { versioned } from '../../shared/versioned.ts';
import { bodyOf, emptyFields, fieldAt, validateFields, type LocationFields } from './location-fields.ts';
import { LocationInputs } from './location-inputs.tsx';
import { storeLocation } from './queries.ts';

/** The form of a new location. */
export function NewLocationScreen(): ReactNode {
  const { locations, shared } = useTexts();
  const { form: texts } = locations;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const form = useForm<LocationFields>({
    initialValues: emptyFields(),
    validate: (fields) => validateFields(fields, locations),
  });
  const create = useMutation({
    mutationFn: (fields: LocationFields) => versioned(gateway.locations.create(bodyOf(fields))),
    onSuccess: (created) => {
      form.resetDirty();
      storeLocation(queryClient, created);
      notify(texts.created(created.data.name));
      void navigate({ to: '/locations/$id', params: { id: created.data.id } });
    },
    onError: (error) => {
      showMistakes(form, error, fieldAt);
    },
  });
  return (
    <Page
      title={texts.createTitle}
      description={texts.createDescription}
      breadcrumbs={[{ label: locations.title, to: '/locations' }]}
    >
      <form
        noValidate
        onSubmit={form.onSubmit((fields) => {
          create.mutate(fields);
        }, focusMistake)}
      >
        <UnsavedChanges isDirty={() => form.isDirty()} />
        <Stack maw={720} gap="lg">
          {create.isError && <ProblemAlert error={create.error} />}
          <LocationInputs form={form} isNew />
          <Group gap="xs">
            <Button type="submit" loading={create.isPending}>
              {texts.submitCreate}
            </Button>
            <LinkButton to="/locations" variant="default">
              {shared.cancel}
            </LinkButton>
          </Group>
        </Stack>
      </form>
    </Page>
  );
}
