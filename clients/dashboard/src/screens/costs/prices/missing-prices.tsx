import { Alert, Group, Stack, Text } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { useQueries } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { useScope } from '../../../app/session-context.ts';
import { CountLink } from '../../../shared/count-link.tsx';
import { LinkButton } from '../../../shared/links.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import { pricesKey } from './queries.ts';

/** Models that are named; of more, their number is said. */
const shownModels = 10;

/**
 * Models whose calls have no cost, with a way to set their prices. A model can have a price since: its earlier calls
 * stay without a cost.
 */
export function MissingPrices({
  groups,
  search,
}: {
  groups: readonly Schemas['Costs']['groups'][number][];
  /** Filters of the list of invocations: what the groups count. */
  search: Readonly<Record<string, string>>;
}): ReactNode {
  const { missing: texts } = useTexts().costs;
  const format = useFormat();
  const canRead = useScope('prices:read');
  const canWrite = useScope('prices:write');
  const models = groups
    .flatMap(({ provider, model, sums }) =>
      provider === undefined || model === undefined || sums.without_cost === 0
        ? []
        : [{ provider, model, calls: sums.without_cost }],
    )
    .sort((one, other) => other.calls - one.calls);
  const shown = models.slice(0, shownModels);
  const prices = useQueries({
    queries: shown.map(({ provider, model }) => ({
      queryKey: [...pricesKey, 'source', provider, model],
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        (await gateway.prices.get(provider, model, { signal })).source,
      enabled: canRead,
      staleTime: 60_000,
    })),
  });
  return (
    <Alert color="yellow" icon={<IconInfoCircle />} title={texts.title}>
      <Stack gap="xs">
        <Text size="sm">{texts.text}</Text>
        <Stack gap={6} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
          {shown.map(({ provider, model, calls }, index) => {
            const source = prices[index]?.data;
            const hasPrice = source !== undefined && source !== 'none';
            return (
              <Group component="li" key={`${provider}/${model}`} gap="xs" style={{ overflowWrap: 'anywhere' }}>
                <Text size="sm">
                  {provider} / {model}
                </Text>
                <Text size="sm">
                  <CountLink
                    count={calls}
                    to="/invocations"
                    search={{ ...search, attempt_provider: provider, attempt_model: model, attempt_cost: 'unknown' }}
                  >
                    {texts.calls(calls, format.number(calls))}
                  </CountLink>
                </Text>
                {hasPrice ? (
                  <Text size="sm">{texts.hasPrice}</Text>
                ) : (
                  canWrite && (
                    <LinkButton
                      to="/costs/price"
                      search={{ provider, model }}
                      variant="default"
                      size="compact-xs"
                      aria-label={texts.setOf(`${provider} / ${model}`)}
                    >
                      {texts.set}
                    </LinkButton>
                  )
                )}
              </Group>
            );
          })}
        </Stack>
        {models.length > shownModels && <Text size="sm">{texts.more(format.number(models.length - shownModels))}</Text>}
      </Stack>
    </Alert>
  );
}
