import { Alert, Button, Group, Paper, Radio, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { signingSecret } from '../../generated/limits.ts';
import { fits } from '../../shared/limits.ts';
import { CopyField } from '../../shared/copy.tsx';
import { ForScope } from '../../shared/for-scope.tsx';
import { focusMistake, showMistakes } from '../../shared/form-problem.ts';
import { LinkButton } from '../../shared/links.tsx';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { UnsavedChanges } from '../../shared/unsaved-changes.tsx';
import { eventFilter } from '../../texts/event-filter.ts';
import { bodyOf, emptyFields, fieldAt, validateFields, type IntegrationFields } from './integration-fields.ts';
import { IntegrationInputs } from './integration-inputs.tsx';
import { IssuedSecret } from './issued-secret.tsx';
import { integrationsKey } from './queries.ts';

const secretKinds = ['generate', 'own', 'none'] as const;
type SecretKind = (typeof secretKinds)[number];

/** The form of a new integration, then its Application ID and its secret, which is shown only here. */
export function NewIntegrationScreen(): ReactNode {
  const { integrations: texts } = useTexts();
  const [created, setCreated] = useState<Schemas['IntegrationWithSecret']>();
  const breadcrumbs = [{ label: texts.title, to: '/integrations' as const }];
  if (created !== undefined) {
    return (
      <Page title={texts.created.title} description={texts.created.text} breadcrumbs={breadcrumbs}>
        <Created integration={created} />
      </Page>
    );
  }
  return (
    <Page title={texts.form.createTitle} description={texts.form.createDescription} breadcrumbs={breadcrumbs}>
      <ForScope scope="integrations:manage">
        <NewIntegrationForm onCreated={setCreated} />
      </ForScope>
    </Page>
  );
}

function Created({ integration }: { integration: Schemas['IntegrationWithSecret'] }): ReactNode {
  const { integrations: texts } = useTexts();
  return (
    <Paper withBorder p="lg" maw={720}>
      <Stack>
        <CopyField
          value={integration.id}
          label={texts.detail.applicationId}
          description={texts.detail.applicationIdText}
        />
        {integration.secret !== undefined && (
          <>
            <Alert color="yellow" icon={<IconAlertTriangle />} title={texts.issued.title}>
              {texts.issued.text}
            </Alert>
            <IssuedSecret secret={integration.secret} />
          </>
        )}
        <Group>
          <LinkButton to="/integrations/$id" params={{ id: integration.id }}>
            {integration.secret === undefined ? texts.created.open : texts.issued.done}
          </LinkButton>
        </Group>
      </Stack>
    </Paper>
  );
}

interface NewFields extends IntegrationFields {
  secretKind: SecretKind;
  secret: string;
}

function NewIntegrationForm({
  onCreated,
}: {
  onCreated: (integration: Schemas['IntegrationWithSecret']) => void;
}): ReactNode {
  const { integrations, shared } = useTexts();
  const { form: texts } = integrations;
  const filterTexts = useOwnTexts(eventFilter);
  const queryClient = useQueryClient();
  const form = useForm<NewFields>({
    initialValues: { ...emptyFields, secretKind: 'generate', secret: '' },
    validate: (fields) => ({
      ...validateFields(fields, integrations, filterTexts),
      ...(fields.secretKind === 'own' && !fits(fields.secret, signingSecret) && { secret: texts.ownSecretWrong }),
    }),
  });
  const create = useMutation({
    mutationFn: ({ secretKind, secret, ...fields }: NewFields) =>
      gateway.integrations.create({
        ...bodyOf(fields),
        ...(secretKind === 'none' && { unsigned: true }),
        ...(secretKind === 'own' && { secret }),
      }),
    onSuccess: (integration) => {
      form.resetDirty();
      void queryClient.invalidateQueries({ queryKey: integrationsKey });
      onCreated(integration);
    },
    onError: (error, { headers }) => {
      showMistakes(form, error, (place) => fieldAt(place, headers));
    },
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((fields) => {
        create.mutate(fields);
      }, focusMistake)}
    >
      <UnsavedChanges isDirty={() => form.isDirty()} />
      <Stack maw={720} gap="lg">
        {create.isError && <ProblemAlert error={create.error} />}
        <IntegrationInputs form={form as never}>
          <Radio.Group label={texts.secret} description={texts.secretDescription} {...form.getInputProps('secretKind')}>
            <Stack gap={10} mt="xs">
              {secretKinds.map((kind) => (
                <Radio
                  key={kind}
                  value={kind}
                  label={texts.secrets[kind]}
                  description={texts.secrets[`${kind}Description`]}
                />
              ))}
            </Stack>
          </Radio.Group>
          {form.values.secretKind === 'own' && (
            <TextInput
              label={texts.ownSecret}
              autoComplete="off"
              spellCheck={false}
              maxLength={signingSecret.maxLength}
              required
              {...form.getInputProps('secret')}
            />
          )}
        </IntegrationInputs>
        <Group gap="xs">
          <Button type="submit" loading={create.isPending}>
            {texts.submitCreate}
          </Button>
          <LinkButton to="/integrations" variant="default">
            {shared.cancel}
          </LinkButton>
        </Group>
      </Stack>
    </form>
  );
}
