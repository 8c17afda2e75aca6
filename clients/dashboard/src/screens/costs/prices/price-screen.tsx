import { Alert, Button, Group, Paper, SimpleGrid, Skeleton, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Navigate, useNavigate } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { rateAmount } from '../../../generated/limits.ts';
import { ForScope } from '../../../shared/for-scope.tsx';
import { focusMistake } from '../../../shared/form-problem.ts';
import { LinkButton } from '../../../shared/links.tsx';
import { useNotify } from '../../../shared/notify.ts';
import { Page } from '../../../shared/page.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { UnsavedChanges } from '../../../shared/unsaved-changes.tsx';
import { useSave } from '../../../shared/use-save.tsx';
import { versioned, type Versioned } from '../../../shared/versioned.ts';
import { bodyOf, fieldAt, fieldsOf, isSimple, rateFields, validateFields, type PriceFields } from './price-fields.ts';
import { pricesKey } from './queries.ts';

const route = getRouteApi('/costs/price');

/** The form of the operator's own price of a model. */
export function PriceScreen(): ReactNode {
  const { costs } = useTexts();
  const { price: texts } = costs;
  const { provider = '', model = '' } = route.useSearch();
  const read = useQuery({
    queryKey: [...pricesKey, 'one', provider, model],
    queryFn: ({ signal }) => versioned(gateway.prices.get(provider, model, { signal })),
    enabled: provider !== '' && model !== '',
  });
  if (provider === '' || model === '') return <Navigate to="/costs" replace />;
  return (
    <Page
      title={texts.title(`${provider} / ${model}`)}
      description={texts.description}
      breadcrumbs={[{ label: costs.title, to: '/costs' }]}
    >
      {read.data !== undefined ? (
        <ForScope scope="prices:write">
          {isSimple(read.data.data) ? (
            <PriceForm key={`${provider}/${model}`} initial={read.data} />
          ) : (
            <Alert color="gray">{texts.notSimple}</Alert>
          )}
        </ForScope>
      ) : read.isError ? (
        <ProblemAlert error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Skeleton height={240} maw={720} />
      )}
    </Page>
  );
}

function PriceForm({ initial }: { initial: Versioned<Schemas['ModelPrice']> }): ReactNode {
  const { costs, shared } = useTexts();
  const { price: texts } = costs;
  const { provider, model } = initial.data;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const form = useForm<PriceFields>({
    initialValues: fieldsOf(initial.data),
    validate: (fields) => validateFields(fields, texts.wrong),
  });
  const { save, isSaving, error, dialog } = useSave<PriceFields, Schemas['ModelPrice']>({
    form,
    initial,
    send: (fields, ifMatch) => versioned(gateway.prices.set(provider, model, bodyOf(fields), { ifMatch })),
    reload: () => versioned(gateway.prices.get(provider, model)),
    toFields: fieldsOf,
    toField: fieldAt,
    labels: texts.fields,
    onSaved: () => {
      void queryClient.invalidateQueries({ queryKey: pricesKey });
      notify(texts.saved(`${provider} / ${model}`));
      void navigate({ to: '/costs' });
    },
  });
  return (
    <form noValidate onSubmit={form.onSubmit(save, focusMistake)}>
      <UnsavedChanges isDirty={() => form.isDirty()} />
      {dialog}
      <Stack maw={720} gap="lg">
        {error !== undefined && error !== null && <ProblemAlert error={error} />}
        <Paper withBorder p="lg">
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
            {rateFields.map((name) => (
              <TextInput
                key={name}
                label={texts.fields[name]}
                description={texts.descriptions[name]}
                inputWrapperOrder={['label', 'input', 'description', 'error']}
                leftSection="$"
                inputMode="decimal"
                autoComplete="off"
                maxLength={rateAmount.maxLength}
                required={name === 'input' || name === 'output'}
                {...form.getInputProps(name)}
              />
            ))}
          </SimpleGrid>
        </Paper>
        <Group gap="xs">
          <Button type="submit" loading={isSaving}>
            {texts.submit}
          </Button>
          <LinkButton to="/costs" variant="default">
            {shared.cancel}
          </LinkButton>
        </Group>
      </Stack>
    </form>
  );
}
