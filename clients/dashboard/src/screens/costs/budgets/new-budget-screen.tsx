import { Button, Group, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { PreconditionFailedError } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { ForScope } from '../../../shared/for-scope.tsx';
import { focusMistake, showMistakes } from '../../../shared/form-problem.ts';
import { LinkButton } from '../../../shared/links.tsx';
import { useNotify } from '../../../shared/notify.ts';
import { Page } from '../../../shared/page.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { UnsavedChanges } from '../../../shared/unsaved-changes.tsx';
import { bodyOf, emptyFields, fieldAt, validateFields, type BudgetFields } from './budget-fields.ts';
import { BudgetInputs } from './budget-inputs.tsx';
import { budgetsKey } from './queries.ts';

/** The form of a new budget. */
export function NewBudgetScreen(): ReactNode {
  const { costs } = useTexts();
  const { form: texts } = costs.budgets;
  return (
    <Page
      title={texts.createTitle}
      description={costs.budgets.empty}
      breadcrumbs={[{ label: costs.title, to: '/costs' }]}
    >
      <ForScope scope="budgets:write">
        <NewForm />
      </ForScope>
    </Page>
  );
}

function NewForm(): ReactNode {
  const { costs, shared } = useTexts();
  const { budgets } = costs;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const form = useForm<BudgetFields>({
    initialValues: emptyFields(),
    validate: (fields) => validateFields(fields, budgets),
  });
  const create = useMutation({
    mutationFn: (fields: BudgetFields) => gateway.budgets.set(fields.name, bodyOf(fields), { ifNoneMatch: '*' }),
    onSuccess: (_, { name }) => {
      form.resetDirty();
      void queryClient.invalidateQueries({ queryKey: budgetsKey });
      notify(budgets.form.created(name));
      void navigate({ to: '/costs' });
    },
    onError: (error) => {
      if (error instanceof PreconditionFailedError) {
        form.setErrors({ name: budgets.form.nameTaken });
        focusMistake();
      } else showMistakes(form, error, fieldAt);
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
        {create.isError && !(create.error instanceof PreconditionFailedError) && <ProblemAlert error={create.error} />}
        <BudgetInputs form={form} isNew />
        <Group gap="xs">
          <Button type="submit" loading={create.isPending}>
            {budgets.create}
          </Button>
          <LinkButton to="/costs" variant="default">
            {shared.cancel}
          </LinkButton>
        </Group>
      </Stack>
    </form>
  );
}
