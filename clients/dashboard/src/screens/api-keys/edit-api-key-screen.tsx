import { Button, Group, Paper, Skeleton, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { apiKeyName } from '../../generated/limits.ts';
import { ForScope } from '../../shared/for-scope.tsx';
import { focusMistake } from '../../shared/form-problem.ts';
import { LinkButton } from '../../shared/links.tsx';
import { useNotify } from '../../shared/notify.ts';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { UnsavedChanges } from '../../shared/unsaved-changes.tsx';
import { useSave } from '../../shared/use-save.tsx';
import { versioned, type Versioned } from '../../shared/versioned.ts';
import { limitFieldAt, limitFieldsOf, limitRules, limitsOf, type LimitFields } from './limit-fields.ts';
import { LimitInputs } from './limit-inputs.tsx';
import { apiKeysKey } from './queries.ts';

const route = getRouteApi('/api-keys/$id/edit');

interface Fields extends LimitFields {
  name: string;
}

/** The form of a key: its name and its limits. */
export function EditApiKeyScreen(): ReactNode {
  const { apiKeys: texts } = useTexts();
  const { id } = route.useParams();
  const read = useQuery({
    queryKey: [...apiKeysKey, id],
    queryFn: ({ signal }) => versioned(gateway.apiKeys.get(id, { signal })),
  });
  return (
    <Page
      title={texts.edit.title(read.data?.data.name ?? id)}
      description={texts.edit.description}
      breadcrumbs={[{ label: texts.title, to: '/api-keys' }]}
    >
      {read.data !== undefined ? (
        <ForScope scope="keys:manage">
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

function EditForm({ initial }: { initial: Versioned<Schemas['ApiKey']> }): ReactNode {
  const { apiKeys: texts, shared } = useTexts();
  const { id } = initial.data;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const form = useForm<Fields>({
    initialValues: toFields(initial.data),
    validate: {
      name: (name) => (name.trim() === '' ? texts.form.nameMissing : null),
      ...limitRules(texts.limits),
    },
  });
  const { save, isSaving, error, dialog } = useSave<Fields, Schemas['ApiKey']>({
    form,
    initial,
    send: (fields, ifMatch) =>
      versioned(gateway.apiKeys.update(id, { name: fields.name, limits: limitsOf(fields) }, { ifMatch })),
    reload: () => versioned(gateway.apiKeys.get(id)),
    toFields,
    toField: limitFieldAt,
    labels: {
      name: texts.form.name,
      prompts: texts.limits.prompts,
      models: texts.limits.models,
      maxOutputTokens: texts.limits.maxOutputTokens,
      requestsPerMinute: texts.limits.requestsPerMinute,
      tags: texts.limits.tags,
    },
    onSaved: (saved) => {
      queryClient.setQueryData([...apiKeysKey, id], saved);
      void queryClient.invalidateQueries({ queryKey: apiKeysKey });
      notify(texts.edit.saved);
      void navigate({ to: '/api-keys' });
    },
  });
  return (
    <form noValidate onSubmit={form.onSubmit(save, focusMistake)}>
      <UnsavedChanges isDirty={() => form.isDirty()} />
      {dialog}
      <Stack maw={720} gap="lg">
        {error !== undefined && error !== null && <ProblemAlert error={error} />}
        <Paper withBorder p="lg">
          <Stack gap="lg">
            <TextInput
              label={texts.form.name}
              maxLength={apiKeyName.maxLength}
              required
              {...form.getInputProps('name')}
            />
            <LimitInputs of={(name) => form.getInputProps(name)} />
          </Stack>
        </Paper>
        <Group gap="xs">
          <Button type="submit" loading={isSaving}>
            {shared.save}
          </Button>
          <LinkButton to="/api-keys" variant="default">
            {shared.cancel}
          </LinkButton>
        </Group>
      </Stack>
    </form>
  );
}

function toFields({ name, limits }: Schemas['ApiKey']): Fields {
  return { name, ...limitFieldsOf(limits) };
}
