import { Group, Text, Title } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { CountLink } from '../../../shared/count-link.tsx';
import { LinkButton, TextLink } from '../../../shared/links.tsx';
import { useNow } from '../../../shared/now.tsx';
import { Time } from '../../../shared/time.tsx';
import { StatusBadge, type Tone } from '../../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import classes from './budget-card.module.css';
import { BudgetScope } from './budget-scope.tsx';
import { DeleteBudget } from './delete-budget.tsx';
import { forecastOf, standingOf, type BudgetStanding } from './forecast.ts';

type Budget = Schemas['Budget'];

const tones: Record<BudgetStanding, Tone> = {
  refusing: 'danger',
  usedUp: 'danger',
  tight: 'warning',
  runsOut: 'warning',
  within: 'ok',
};

/** One budget: what it counts, how much of it is spent, and how the period will end at this pace. */
export function BudgetCard({ budget }: { budget: Budget }): ReactNode {
  const { budgets: texts } = useTexts().costs;
  const canWrite = useScope('budgets:write');
  const format = useFormat();
  const { name, scope, period, time_zone: zone, thresholds, current } = budget;
  const standing = standingOf(budget, forecastOf(budget, useNow()));
  return (
    <li className={classes.card} aria-label={name}>
      <Group justify="space-between" align="flex-start" gap="xs">
        <Group gap="xs" miw={0}>
          <Title order={3} size="h5">
            {name}
          </Title>
          <StatusBadge tone={tones[standing]}>{texts.standings[standing]}</StatusBadge>
        </Group>
        {canWrite && (
          <Group gap={6}>
            <LinkButton
              to="/costs/budgets/$name"
              params={{ name }}
              variant="default"
              size="compact-sm"
              aria-label={texts.changeOf(name)}
            >
              {texts.change}
            </LinkButton>
            <DeleteBudget name={name} />
          </Group>
        )}
      </Group>
      <Text size="sm" component="div">
        <BudgetScope scope={scope} />
        {' · '}
        {(texts.periods as Record<string, string>)[period] ?? period}
        {period !== 'once' && `, ${zone}`}
      </Text>
      <Bar budget={budget} standing={standing} />
      <Amounts budget={budget} />
      <Text size="xs" c="dimmed" component="div">
        {current.resets_at === undefined ? (
          texts.neverResets
        ) : (
          <>
            {texts.resets} <Time value={current.resets_at} isDistant />
          </>
        )}
        {thresholds.length > 0 &&
          ` · ${texts.events(format.list(thresholds.map((percent) => format.percent(percent / 100))))}`}
      </Text>
      <Outlook budget={budget} />
      {budget.blocked_models?.map(({ model, invocation_id: id }) => (
        <Text key={model} size="sm" component="div">
          {texts.blocked(model)}{' '}
          <TextLink to="/invocations/$id" params={{ id }} size="sm" underline="always">
            {texts.blockedBy}
          </TextLink>
        </Text>
      ))}
    </li>
  );
}

/** The text below says the same in words. */
function Bar({ budget: { limit, current }, standing }: { budget: Budget; standing: BudgetStanding }): ReactNode {
  const most = Number(limit.amount);
  const share = (amount: string): number => (most === 0 ? 0 : Math.min(1, Number(amount) / most));
  const spent = most === 0 ? 1 : share(current.spent.amount);
  return (
    <div className={classes.track} aria-hidden>
      <div className={classes.spent} data-standing={standing} style={{ width: `${spent * 100}%` }} />
      <div className={classes.held} style={{ width: `${Math.min(1 - spent, share(current.held.amount)) * 100}%` }} />
    </div>
  );
}

function Amounts({ budget: { scope, limit, current } }: { budget: Budget }): ReactNode {
  const { budgets: texts } = useTexts().costs;
  const format = useFormat();
  const most = Number(limit.amount);
  const { spent, held, left, since } = current;
  const { key_id: author_id, prompt_id: prompt, tag } = scope;
  const ofPeriod = { since, ...(author_id && { author_id }), ...(prompt && { prompt }), ...(tag && { tag }) };
  const share = most === 0 ? undefined : format.percent(Number(spent.amount) / most);
  return (
    <Text size="sm" component="div" style={{ fontVariantNumeric: 'tabular-nums' }}>
      <CountLink count={Number(spent.amount)} to="/invocations" search={ofPeriod}>
        {texts.spent(format.spending(spent), format.spending(limit), share)}
      </CountLink>
      {' · '}
      {Number(held.amount) > 0 && (
        <>
          <span title={texts.heldExplained}>{texts.held(format.spending(held))}</span>
          {' · '}
        </>
      )}
      {texts.left(format.spending(left))}
    </Text>
  );
}

/** How the period ends at this pace, and what happens when nothing is left. */
function Outlook({ budget }: { budget: Budget }): ReactNode {
  const { budgets: texts } = useTexts().costs;
  const format = useFormat();
  const forecast = forecastOf(budget, useNow());
  const { name, limit, current } = budget;
  const { refusing } = current;
  if (refusing !== undefined) {
    return (
      <Text size="sm" component="div">
        <CountLink count={refusing.calls} to="/invocations" search={{ refused_by: name, since: refusing.since }}>
          {texts.refusing(format.number(refusing.calls), format.moment(refusing.since))}
        </CountLink>{' '}
        {texts.again}
      </Text>
    );
  }
  if (Number(current.spent.amount) >= Number(limit.amount)) {
    return <Text size="sm">{current.resets_at === undefined ? texts.refusedForGood : texts.refused}</Text>;
  }
  if (forecast === undefined) {
    return (
      <Text size="xs" c="dimmed">
        {current.resets_at !== undefined && texts.noForecast}
      </Text>
    );
  }
  const amount = format.spending({ amount: String(forecast.spent) });
  return forecast.reachedAt === undefined ? (
    <Text size="xs" c="dimmed">
      {texts.forecast(amount)}
    </Text>
  ) : (
    <Text size="sm">
      {texts.forecast(amount)} {texts.reached(format.moment(forecast.reachedAt))}
    </Text>
  );
}
