import { Button, Fieldset, Group, Skeleton, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { ArchiveButton } from '../../shared/archive-button.tsx';
import { CopyableId } from '../../shared/copy.tsx';
import { focusMistake } from '../../shared/form-problem.ts';
import { LinkButton } from '../../shared/links.tsx';
import { modifierTexts } from '../../shared/modifier-texts.ts';
import { useNotify } from '../../shared/notify.ts';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { taxTexts } from '../../shared/tax-texts.ts';
import { useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { UnsavedChanges } from '../../shared/unsaved-changes.tsx';
import { useLocations } from '../../shared/use-locations.ts';
import { useSave } from '../../shared/use-save.tsx';
import { versioned, type Versioned } from '../../shared/versioned.ts';
import { bodyOf, fieldAt, fieldsOf, validateFields, written, type ProductFields } from './product-fields.ts';
import { ProductInputs } from './product-inputs.tsx';
import { ProductStatus } from './product-status.tsx';
import { productsKey, storeProduct } from './queries.ts';

const route = getRouteApi('/products/$id');

/** One product, as a form. */
export function ProductScreen(): ReactNode {
  const { products: texts } = useTexts();
  const { id } = route.useParams();
  const canWrite = useScope('catalog:write');
  const queryClient = useQueryClient();
  const locations = useLocations();
  const read = useQuery({
    queryKey: [...productsKey, id],
    queryFn: ({ signal }) => versioned(gateway.products.get(id, { signal })),
  });
  const product = read.data?.data;
  return (
    <Page
      title={product?.name ?? id}
      badge={product && <ProductStatus active={product.active} archived={product.archived} />}
      description={<CopyableId value={id} label={texts.form.id} withLabel />}
      breadcrumbs={[
        { label: texts.title, to: '/products' },
        ...(product === undefined
          ? []
          : [
              {
                label: locations.nameOf(product.location_id),
                to: '/locations/$id' as const,
                params: { id: product.location_id },
              },
            ]),
      ]}
      actions={
        product &&
        canWrite && (
          <ArchiveButton
            name={product.name}
            isArchived={product.archived}
            text={texts.archiveText}
            send={async (archived) => {
              const saved = await versioned(gateway.products.update(id, { archived }));
              storeProduct(queryClient, saved);
            }}
          />
        )
      }
    >
      {read.data !== undefined ? (
        <ProductForm key={`${id} ${String(read.data.data.archived)}`} initial={read.data} canWrite={canWrite} />
      ) : read.isError ? (
        <ProblemAlert error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Skeleton height={320} maw={720} />
      )}
    </Page>
  );
}

function ProductForm({ initial, canWrite }: { initial: Versioned<Schemas['Product']>; canWrite: boolean }): ReactNode {
  const all = useTexts();
  const { products, shared } = all;
  const { form: texts } = products;
  const own = useOwnTexts(taxTexts);
  const modifiers = useOwnTexts(modifierTexts);
  const { id, currency, location_id } = initial.data;
  const queryClient = useQueryClient();
  const notify = useNotify();
  const form = useForm<ProductFields>({
    initialValues: fieldsOf(initial.data),
    validate: (fields) => validateFields(fields, currency, all, modifiers),
  });
  const { save, isSaving, error, dialog } = useSave<ProductFields, Schemas['Product']>({
    form,
    initial,
    send: (fields, ifMatch) => versioned(gateway.products.update(id, bodyOf(fields, currency), { ifMatch })),
    reload: () => versioned(gateway.products.get(id)),
    toFields: fieldsOf,
    toField: fieldAt,
    labels: {
      name: texts.name,
      category_id: texts.category,
      price: texts.price,
      active: texts.active,
      modifiers: texts.modifiers,
      modifier_groups: modifiers.groups,
      description: texts.description,
      tags: texts.tags,
      sku: texts.sku,
      image_url: texts.imageUrl,
      tax: own.ofProduct,
      takeAwayTax: own.ofTakeAway,
      unavailableUntil: own.unavailableUntil,
    },
    onSaved: (saved) => {
      storeProduct(queryClient, saved);
      notify(texts.saved);
    },
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((fields) => {
        save(written(fields, currency));
      }, focusMistake)}
    >
      <UnsavedChanges isDirty={() => form.isDirty()} />
      {dialog}
      <Stack maw={720} gap="lg">
        {error !== undefined && error !== null && <ProblemAlert error={error} />}
        <Fieldset variant="unstyled" m={0} disabled={!canWrite}>
          <ProductInputs form={form} locationId={location_id} currency={currency} />
        </Fieldset>
        <Group gap="xs">
          {canWrite && (
            <Button type="submit" loading={isSaving}>
              {shared.save}
            </Button>
          )}
          <LinkButton to="/products" search={{ location_id }} variant="default">
            {canWrite ? shared.cancel : products.title}
          </LinkButton>
        </Group>
      </Stack>
    </form>
  );
}
