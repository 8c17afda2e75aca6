import {
  Button,
  Group,
  Paper,
  SegmentedControl,
  Select,
  Skeleton,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { orderNote, referenceId } from '../../generated/limits.ts';
import { FirstSteps } from '../../shared/first-steps.tsx';
import { focusMistake, showMistakes } from '../../shared/form-problem.ts';
import { LinkButton } from '../../shared/links.tsx';
import { useNotify } from '../../shared/notify.ts';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { taxTexts } from '../../shared/tax-texts.ts';
import { useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { UnsavedChanges } from '../../shared/unsaved-changes.tsx';
import { useLocations } from '../../shared/use-locations.ts';
import { useCategories } from '../products/use-categories.ts';
import { emptyOrder, fieldAt, findIncomplete, orderOf, useKeyOf, type OrderFields } from './order-fields.ts';
import classes from './new-order.module.css';
import { OrderSummary } from './order-summary.tsx';
import { ProductPicker } from './product-picker.tsx';
import { ordersKey } from './queries.ts';

const route = getRouteApi('/orders/new');
/** Products to choose from. */
const offered = 300;

/** A small till: places an order to see what happens. */
export function NewOrderScreen(): ReactNode {
  const { orders } = useTexts();
  const { form: texts } = orders;
  const { location_id } = route.useSearch();
  const locations = useLocations();
  const [chosen, setChosen] = useState(location_id);
  const options = locations.options(chosen);
  const locationId = chosen ?? options[0]?.value;
  const location = locations.find(locationId);
  return (
    <Page title={texts.title} description={texts.description} breadcrumbs={[{ label: orders.title, to: '/orders' }]}>
      {locations.query.isError ? (
        <ProblemAlert error={locations.query.error} onRetry={() => void locations.query.refetch()} />
      ) : locations.query.data === undefined ? (
        <Skeleton height={320} />
      ) : options.length === 0 ? (
        <FirstSteps />
      ) : (
        <Stack gap="md">
          <Select
            label={texts.location}
            placeholder={texts.chooseLocation}
            data={options}
            searchable
            allowDeselect={false}
            maw={360}
            value={locationId ?? null}
            onChange={(value) => {
              setChosen(value ?? undefined);
            }}
          />
          {location !== undefined && <OrderForm key={location.id} location={location} />}
        </Stack>
      )}
    </Page>
  );
}

function OrderForm({ location }: { location: Schemas['Location'] }): ReactNode {
  const { orders, shared } = useTexts();
  const { form: texts } = orders;
  const own = useOwnTexts(taxTexts);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const keyOf = useKeyOf();
  const products = useQuery({
    queryKey: ['products', 'to-order', location.id],
    queryFn: async ({ signal }) => {
      const list = gateway.products.list({ location_id: location.id, limit: 100 }, { signal });
      return (await list.toArray({ limit: offered })).filter(({ active }) => active);
    },
  });
  const form = useForm<OrderFields>({
    initialValues: emptyOrder,
    validate: (fields) => findIncomplete(fields, products.data ?? []),
  });
  const categories = useCategories(location.id);
  const isEmpty = Object.keys(form.values.lines).length === 0;
  const isComplete = Object.keys(findIncomplete(form.values, products.data ?? [])).length === 0;
  const asked = orderOf(form.values, location.id);
  // Neither changes what it costs.
  const { note: _note, reference_id: _reference, ...priced } = asked;
  const calculated = useQuery({
    queryKey: [...ordersKey, 'calculated', priced],
    queryFn: ({ signal }) => gateway.orders.calculate(priced, { signal }),
    placeholderData: keepPreviousData,
    enabled: !isEmpty && isComplete,
    retry: false,
  });
  const place = useMutation({
    mutationFn: (fields: OrderFields) => {
      const order = orderOf(fields, location.id);
      return gateway.orders.create(order, { idempotencyKey: keyOf(order) });
    },
    onSuccess: (order) => {
      form.resetDirty();
      void queryClient.invalidateQueries({ queryKey: ordersKey });
      notify(texts.placed);
      void navigate({ to: '/orders/$id', params: { id: order.id } });
    },
    onError: (error) => {
      showMistakes(form, error, fieldAt);
    },
  });
  if (products.isError) return <ProblemAlert error={products.error} onRetry={() => void products.refetch()} />;
  if (products.data === undefined) return <Skeleton height={320} />;
  if (products.data.length === 0) return <FirstSteps locationId={location.id} />;
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((fields) => {
        if (!isEmpty) place.mutate(fields);
      }, focusMistake)}
    >
      <UnsavedChanges isDirty={() => form.isDirty()} />
      <div className={classes.columns}>
        <ProductPicker form={form} products={products.data} categories={categories.data ?? []} offered={offered} />
        <Stack gap="md" className={classes.side}>
          <Paper withBorder p="lg" component="section">
            <Stack gap="md">
              <Title order={2} size="h4">
                {texts.summary}
              </Title>
              {isEmpty ? (
                <Text c="dimmed" size="sm">
                  {texts.empty}
                </Text>
              ) : (
                <OrderSummary
                  lines={form.values.lines}
                  products={products.data}
                  currency={location.currency}
                  calculated={isComplete ? calculated.data : undefined}
                />
              )}
              <SegmentedControl
                aria-label={own.service}
                data={(['eat_in', 'take_away'] as const).map((value) => ({ value, label: own.services[value] }))}
                {...form.getInputProps('service')}
              />
              <SpotSelect form={form} zones={location.zones} />
              <Textarea
                label={texts.note}
                placeholder={texts.notePlaceholder}
                maxLength={orderNote.maxLength}
                autosize
                minRows={1}
                maxRows={6}
                {...form.getInputProps('note')}
              />
              <TextInput
                label={texts.reference}
                placeholder={texts.referencePlaceholder}
                maxLength={referenceId.maxLength}
                autoComplete="off"
                {...form.getInputProps('reference')}
              />
              {place.isError && <ProblemAlert error={place.error} />}
              <Group gap="xs">
                <Button type="submit" loading={place.isPending} disabled={isEmpty}>
                  {texts.submit}
                </Button>
                <LinkButton to="/orders" variant="default">
                  {shared.cancel}
                </LinkButton>
              </Group>
            </Stack>
          </Paper>
        </Stack>
      </div>
    </form>
  );
}

function SpotSelect({
  form,
  zones,
}: {
  form: UseFormReturnType<OrderFields>;
  zones: Schemas['Location']['zones'];
}): ReactNode {
  const { form: texts } = useTexts().orders;
  const groups = zones
    .filter(({ spots }) => spots.length > 0)
    .map(({ name, spots }) => ({
      group: name,
      items: spots.map((spot) => ({ value: spot.id, label: spot.name })),
    }));
  if (groups.length === 0) return null;
  return (
    <Select
      label={texts.spot}
      placeholder={texts.noSpot}
      data={groups}
      searchable
      clearable
      {...form.getInputProps('spot')}
      value={form.values.spot === '' ? null : form.values.spot}
      onChange={(value) => {
        form.setFieldValue('spot', value ?? '');
      }}
    />
  );
}
