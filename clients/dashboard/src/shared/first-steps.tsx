import { Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { gateway } from '../app/gateway.ts';
import { useScope } from '../app/session-context.ts';
import { LinkButton } from './links.tsx';
import { ProblemAlert } from './problem-alert.tsx';
import { StepsPanel } from './steps-panel.tsx';
import { useTexts } from './texts.tsx';

const steps = ['location', 'category', 'product', 'order'] as const;

/** What there is already: the ids of the first location, category and product. */
interface Progress {
  location?: string | undefined;
  category?: string | undefined;
  product?: string | undefined;
}

/**
 * The way from an empty service to the first order, with a button for the next step.
 * @param locationId the location that it is about; the newest one by default
 */
export function FirstSteps({ locationId }: { locationId?: string | undefined }): ReactNode {
  const { firstSteps: texts } = useTexts().orders;
  const canRead = useScope('catalog:read');
  const canWrite = useScope('catalog:write');
  const canOrder = useScope('orders:write');
  const read = useQuery({
    queryKey: ['locations', 'first-steps', locationId],
    queryFn: async ({ signal }): Promise<Progress> => {
      const one = { limit: 1 };
      const location = locationId ?? (await gateway.locations.list(one, { signal })).data[0]?.id;
      if (location === undefined) return {};
      const [categories, products] = await Promise.all([
        gateway.categories.list({ ...one, location_id: location }, { signal }),
        gateway.products.list({ ...one, location_id: location }, { signal }),
      ]);
      return { location, category: categories.data[0]?.id, product: products.data[0]?.id };
    },
    enabled: canRead,
    staleTime: 0,
  });
  if (!canRead) return <Text c="dimmed">{texts.notAllowed}</Text>;
  if (read.isError) return <ProblemAlert error={read.error} onRetry={() => void read.refetch()} />;
  if (read.data === undefined) return <Skeleton height={240} />;
  const done: Progress = read.data;
  const next = steps.findIndex((step) => step === 'order' || done[step] === undefined);
  const isAllowed = steps[next] === 'order' ? canOrder : canWrite;
  return (
    <StepsPanel
      title={texts.title}
      text={texts.text}
      steps={steps.map((step, position) => ({
        name: step,
        title: texts.steps[step].title,
        text: texts.steps[step].text,
        isDone: position < next,
        action: position === next && isAllowed && (
          <NextStep step={step} progress={done}>
            {texts.steps[step].action}
          </NextStep>
        ),
      }))}
    />
  );
}

function NextStep({
  step,
  progress,
  children,
}: {
  step: (typeof steps)[number];
  progress: Progress;
  children: ReactNode;
}): ReactNode {
  const { location, category } = progress;
  const search = location === undefined ? {} : { location_id: location };
  switch (step) {
    case 'location':
      return <LinkButton to="/locations/new">{children}</LinkButton>;
    case 'category':
      return (
        <LinkButton to="/categories/new" search={search}>
          {children}
        </LinkButton>
      );
    case 'product':
      return (
        <LinkButton to="/products/new" search={{ ...search, ...(category !== undefined && { category_id: category }) }}>
          {children}
        </LinkButton>
      );
    case 'order':
      return (
        <LinkButton to="/orders/new" search={search}>
          {children}
        </LinkButton>
      );
  }
}
