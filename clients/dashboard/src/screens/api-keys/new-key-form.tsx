import { Button, Checkbox, Group, NativeSelect, Paper, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import type { Scope } from '../../app/session.ts';
import { useSession } from '../../app/session-context.ts';
import { apiKeyName } from '../../generated/limits.ts';
import { focusMistake, showMistakes } from '../../shared/form-problem.ts';
import { LinkButton } from '../../shared/links.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { UnsavedChanges } from '../../shared/unsaved-changes.tsx';
import { expiries, expiryInstant, type Expiry } from './expiry.ts';
import { limitFieldAt, limitFieldsOf, limitRules, limitsOf, type LimitFields } from './limit-fields.ts';
import { LimitInputs } from './limit-inputs.tsx';

interface Fields extends LimitFields {
  name: string;
  scopes: Scope[];
  expiry: Expiry;
  /** `2026-11-05`, with the expiry `custom`. */
  date: string;
}

/** Name, scopes, expiry and limits of a new key. */
export function NewKeyForm({ onCreated }: { onCreated: (created: Schemas['ApiKeyCreated']) => void }): ReactNode {
  const { apiKeys, shared } = useTexts();
  const texts = apiKeys.form;
  const { key: own } = useSession();
  const form = useForm<Fields>({
    initialValues: { name: '', scopes: [], expiry: 'never', date: '', ...limitFieldsOf() },
    validate: {
      name: (name) => (name.trim() === '' ? texts.nameMissing : null),
      scopes: (scopes) => (scopes.length === 0 ? texts.scopesMissing : null),
      date: (_, { expiry, date }) =>
        expiry === 'custom' && !(Date.parse(expiryInstant(expiry, date) ?? '') > Date.now()) ? texts.dateMissing : null,
      ...limitRules(apiKeys.limits),
    },
  });
  const create = useMutation({
    mutationFn: ({ name, scopes, expiry, date, ...fields }: Fields) => {
      const expires_at = expiryInstant(expiry, date);
      const limits = limitsOf(fields);
      return gateway.apiKeys.create({
        name,
        scopes,
        ...(expires_at !== undefined && { expires_at }),
        ...(limits !== null && { limits }),
      });
    },
    onSuccess: (created) => {
      form.resetDirty();
      onCreated(created);
    },
    onError: (error) => {
      showMistakes(form, error, (place) =>
        place === 'expires_at' ? 'date' : limitFieldAt(place.replace(/^scopes\..*/, 'scopes')),
      );
    },
  });
  const grantable = (Object.keys(apiKeys.scopes) as Scope[]).filter((scope) => own.scopes.includes(scope));
  const { never, ...others } = texts.expiries;
  // Of a person it is the session that ends, and the key outlives it.
  const endsWithOwn = own.type === 'key' && own.expires_at !== undefined;
  const expiryTexts = { never: endsWithOwn ? texts.expiryWithYours : never, ...others };

  return (
    <form
      noValidate
      onSubmit={form.onSubmit((fields) => {
        create.mutate(fields);
      }, focusMistake)}
    >
      <UnsavedChanges isDirty={() => form.isDirty()} />
      <Stack maw={720} gap="lg">
        <Paper withBorder p="lg">
          <Stack gap="lg">
            <TextInput
              label={texts.name}
              description={texts.nameDescription}
              placeholder={texts.namePlaceholder}
              maxLength={apiKeyName.maxLength}
              required
              {...form.getInputProps('name')}
            />
            <Checkbox.Group
              label={texts.scopes}
              description={texts.scopesDescription}
              required
              {...form.getInputProps('scopes')}
            >
              <Group gap="xs" mt="xs">
                <Button
                  variant="default"
                  size="compact-xs"
                  onClick={() => {
                    form.setFieldValue('scopes', grantable);
                  }}
                >
                  {texts.selectAll}
                </Button>
                <Button
                  variant="default"
                  size="compact-xs"
                  onClick={() => {
                    form.setFieldValue('scopes', []);
                  }}
                >
                  {texts.selectNone}
                </Button>
              </Group>
              <SimpleGrid cols={{ base: 1, sm: 2 }} verticalSpacing={12} mt="sm">
                {(Object.entries(apiKeys.scopes) as [Scope, string][]).map(([scope, explanation]) => (
                  <Checkbox
                    key={scope}
                    value={scope}
                    disabled={!grantable.includes(scope)}
                    label={
                      <Text span ff="monospace" size="sm">
                        {scope}
                      </Text>
                    }
                    description={grantable.includes(scope) ? explanation : texts.notHeld}
                  />
                ))}
              </SimpleGrid>
            </Checkbox.Group>
            <Group align="flex-start" grow preventGrowOverflow={false}>
              <NativeSelect
                label={texts.expiry}
                data={expiries.map((value) => ({ value, label: expiryTexts[value] }))}
                {...form.getInputProps('expiry')}
              />
              {form.values.expiry === 'custom' && (
                <TextInput
                  type="date"
                  label={texts.expiryDate}
                  description={texts.expiryDateDescription}
                  inputWrapperOrder={['label', 'input', 'description', 'error']}
                  required
                  {...form.getInputProps('date')}
                />
              )}
            </Group>
            <LimitInputs of={(name) => form.getInputProps(name)} />
          </Stack>
        </Paper>
        {create.isError && <ProblemAlert error={create.error} />}
        <Group gap="xs">
          <Button type="submit" loading={create.isPending}>
            {texts.submit}
          </Button>
          <LinkButton to="/api-keys" variant="default">
            {shared.cancel}
          </LinkButton>
        </Group>
      </Stack>
    </form>
  );
}
