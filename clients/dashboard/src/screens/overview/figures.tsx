import { SimpleGrid } from '@mantine/core';
import { IconArrowDownRight, IconArrowUpRight } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { CountLink } from '../../shared/count-link.tsx';
import { spanOf } from '../../shared/counted-span.ts';
import { Figure } from '../../shared/figure.tsx';
import { Time } from '../../shared/time.tsx';
import type { Span } from '../../shared/span-switch.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import classes from './figures.module.css';
import { hourBefore } from './hour-before.ts';
import type { Counts, Statistics } from './queries.ts';

/** Fewer are too few for a percentage. */
const fewest = 10;

/**
 * The numbers of the last hour or day.
 * @param day the statistics of the day, which tell how the hour before was
 */
export function Figures({
  span,
  statistics,
  day,
}: {
  span: Span;
  statistics: Statistics;
  day: Statistics | undefined;
}): ReactNode {
  const { figures: texts } = useTexts().overview;
  const format = useFormat();
  const { totals, waiting } = statistics;
  const points = span === 'hour' && day !== undefined ? hourBefore(day.points, day.interval_seconds, totals.at) : [];
  const change = (count: (counts: Counts) => number): ReactNode => (
    <Change now={count(totals)} before={points.reduce((sum, point) => sum + count(point), 0)} />
  );
  const counted = spanOf(statistics);
  const invocations = (count: number, filter: Readonly<Record<string, string>>, text: string): ReactNode => (
    <CountLink count={count} to="/invocations" search={{ ...filter, ...counted }}>
      {text}
    </CountLink>
  );
  const tokens = totals.input_tokens + totals.output_tokens;
  const errors = totals.client_errors + totals.server_errors;
  const { deliveries_succeeded: delivered, deliveries_failed: undelivered } = totals;
  const ended = delivered + undelivered;
  return (
    <SimpleGrid cols={{ base: 2, md: 3 }} spacing="sm">
      <Figure
        label={texts.requests}
        note={
          span === 'hour'
            ? texts.perMinute(format.number(totals.requests / 60, { maximumFractionDigits: 1 }))
            : texts.perHour(format.number(totals.requests / 24, { maximumFractionDigits: 1 }))
        }
      >
        {format.number(totals.requests)}
        {change(({ requests }) => requests)}
      </Figure>
      <Figure
        label={texts.errors}
        note={
          errors === 0
            ? texts.noErrors
            : texts.errorNote(format.number(totals.client_errors), format.number(totals.server_errors))
        }
      >
        <span className={classes.value} data-tone={totals.server_errors > 0 ? 'danger' : undefined}>
          {format.number(errors)}
        </span>
        {errors > 0 && totals.requests > 0 && (
          <span className={classes.aside}>{texts.shareOfRequests(format.percent(errors / totals.requests))}</span>
        )}
      </Figure>
      <Figure
        label={texts.invocations}
        note={
          <>
            {invocations(totals.cached, { cached: 'only' }, texts.cached(format.number(totals.cached)))},{' '}
            {invocations(
              totals.invocation_errors,
              { status: 'failed' },
              texts.failed(format.number(totals.invocation_errors)),
            )}
            {totals.canceled > 0 && (
              <>
                , {invocations(totals.canceled, { status: 'canceled' }, texts.canceled(format.number(totals.canceled)))}
              </>
            )}
            {totals.interrupted > 0 && (
              <>
                ,{' '}
                {invocations(
                  totals.interrupted,
                  { status: 'interrupted' },
                  texts.interrupted(format.number(totals.interrupted)),
                )}
              </>
            )}
          </>
        }
      >
        {invocations(totals.invocations, {}, format.number(totals.invocations))}
        {change(({ invocations }) => invocations)}
      </Figure>
      <Figure
        label={texts.tokens}
        note={texts.tokenNote(format.compact(totals.input_tokens), format.compact(totals.output_tokens))}
      >
        {invocations(tokens, {}, format.compact(tokens))}
        {change(({ input_tokens, output_tokens }) => input_tokens + output_tokens)}
      </Figure>
      <Figure
        label={texts.deliveries}
        note={
          ended === 0 ? (
            texts.noDeliveries
          ) : (
            <>
              {format.percent(delivered / ended)},{' '}
              <CountLink count={undelivered} to="/deliveries" search={{ status: 'failed', ...counted }}>
                {texts.failed(format.number(undelivered))}
              </CountLink>
            </>
          )
        }
      >
        <CountLink count={delivered} to="/deliveries" search={{ status: 'delivered', ...counted }} />
        {change((counts) => counts.deliveries_succeeded)}
      </Figure>
      <Figure label={texts.waiting} note={<WaitingNote waiting={waiting} />}>
        {waiting === undefined ? (
          texts.unknown
        ) : (
          <CountLink count={waiting.count} to="/deliveries" search={{ status: 'waiting' }} />
        )}
      </Figure>
    </SimpleGrid>
  );
}

/** The change from the hour before. An increase is neither good nor bad, so it has no colour. */
function Change({ now, before }: { now: number; before: number }): ReactNode {
  const { figures: texts } = useTexts().overview;
  const format = useFormat();
  if (before < fewest) return null;
  const change = now / before - 1;
  const percent = format.number(change, { style: 'percent', signDisplay: 'exceptZero', maximumFractionDigits: 0 });
  const Arrow = change < 0 ? IconArrowDownRight : IconArrowUpRight;
  return (
    <span className={classes.aside} title={texts.before(format.number(before))}>
      {change !== 0 && <Arrow size={14} stroke={1.75} aria-hidden />}
      {percent} <span className={classes.long}>{texts.change}</span>
    </span>
  );
}

function WaitingNote({ waiting }: { waiting: Statistics['waiting'] }): ReactNode {
  const { figures: texts } = useTexts().overview;
  const format = useFormat();
  if (waiting === undefined) return texts.notMeasured;
  if (waiting.count === 0) return texts.noneWaiting;
  return (
    <>
      {waiting.oldest_at !== undefined && (
        <>
          {texts.oldest} <Time value={waiting.oldest_at} />
          {waiting.held > 0 && ', '}
        </>
      )}
      <CountLink count={waiting.held} to="/deliveries" search={{ status: 'held' }}>
        {waiting.held > 0 && texts.held(format.number(waiting.held))}
      </CountLink>
    </>
  );
}
