import { Alert, Button, Group, Skeleton, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconInfoCircle } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
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
import { bodyOf, fieldAt, fieldsOf, validateFields, type BudgetFields } from './budget-fields.ts';
import { BudgetInputs } from './budget-inputs.tsx';
import { budgetsKey } from './queries.ts';

const route = getRouteApi('/costs/budgets/$name');

/** The form of a present budget. */
export function EditBudgetScreen(): ReactNode {
  const { costs } = useTexts();
  const { name } = route.useParams();
  const read = useQuery({
    queryKey: [...budgetsKey, 'one', name],
    queryFn: ({ signal }) => versioned(gateway.budgets.get(name, { signal })),
  });
  return (
    <Page
      title={costs.budgets.form.editTitle(name)}
      description={costs.budgets.form.editDescription}
      breadcrumbs={[{ label: costs.title, to: '/costs' }]}
    >
      {read.data !== undefined ? (
        <ForScope scope="budgets:write">
          <EditForm key={name} initial={read.data} />
        </ForScope>
      ) : read.isError ? (
        <ProblemAlert error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Skeleton height={320} maw={720} />
      )}
    </Page>
  );
}

function EditForm({ initial }: { initial: Versioned<Schemas['Budget']> }): ReactNode {
  const { costs, shared } = useTexts();
  const { budgets } = costs;
  const { form: texts } = budgets;
  const { name } = initial.data;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const form = useForm<BudgetFields>({
    initialValues: fieldsOf(initial.data),
    validate: (fields) => validateFields(fields, budgets),
  });
  const { save, isSaving, error, dialog } = useSave<BudgetFields, Schemas['Budget']>({
    form,
    initial,
    send: (fields, ifMatch) => versioned(gateway.budgets.set(name, bodyOf(fields), { ifMatch })),
    reload: () => versioned(gateway.budgets.get(name)),
    toFields: fieldsOf,
    toField: fieldAt,
    labels: {
      name: texts.name,
      scope: texts.scope,
      limit: texts.limit,
      period: texts.period,
      timeZone: texts.timeZone,
      unpriced: texts.unpriced,
      assumedTokens: texts.assumedTokens,
      thresholds: texts.thresholds,
    },
    onSaved: (saved) => {
      queryClient.setQueryData([...budgetsKey, 'one', name], saved);
      void queryClient.invalidateQueries({ queryKey: budgetsKey });
      notify(texts.saved(name));
      void navigate({ to: '/costs' });
    },
  });
  const beginsAnew = form.isDirty('scope') || form.isDirty('period') || form.isDirty('timeZone');
  return (
    <form noValidate onSubmit={form.onSubmit(save, focusMistake)}>
      <UnsavedChanges isDirty={() => form.isDirty()} />
      {dialog}
      <Stack maw={720} gap="lg">
        {error !== undefined && error !== null && <ProblemAlert error={error} />}
        <BudgetInputs form={form} isNew={false} />
        {beginsAnew && (
          <Alert color="yellow" icon={<IconInfoCircle />}>
            {texts.beginsAnew}
          </Alert>
        )}
        <Group gap="xs">
          <Button type="submit" loading={isSaving}>
            {shared.save}
          </Button>
          <LinkButton to="/costs" variant="default">
            {shared.cancel}
          </LinkButton>
        </Group>
      </Stack>
    </form>
  );
}
