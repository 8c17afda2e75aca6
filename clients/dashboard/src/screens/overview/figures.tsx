import { SimpleGrid } from '@mantine/core';
import { IconArrowDownRight, IconArrowUpRight } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useScope } from '../../app/session-context.ts';
import { Figure } from '../../shared/figure.tsx';
import { TextLink } from '../../shared/links.tsx';
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
  const canReadLog = useScope('invocations:read');
  const { at: since } = totals;
  const failed = texts.failed(format.number(totals.invocation_errors));
  const tokenNote = texts.tokenNote(
    format.compact(totals.input_tokens),
    format.compact(totals.output_tokens),
    totals.without_usage === 0 ? undefined : format.number(totals.without_usage),
  );
  const errors = totals.client_errors + totals.server_errors;
  const attempts = totals.attempts_succeeded + totals.attempts_failed;
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
            {texts.cached(format.number(totals.cached))},{' '}
            {canReadLog && totals.invocation_errors > 0 ? (
              <TextLink to="/invocations" search={{ status: 'failed', since }} size="xs" underline="always">
                {failed}
              </TextLink>
            ) : (
              failed
            )}
          </>
        }
      >
        {canReadLog && totals.invocations > 0 ? (
          <TextLink to="/invocations" search={{ since }} inherit>
            {format.number(totals.invocations)}
          </TextLink>
        ) : (
          format.number(totals.invocations)
        )}
        {change(({ invocations }) => invocations)}
      </Figure>
      <Figure
        label={texts.tokens}
        note={
          canReadLog && totals.invocations > 0 ? (
            <TextLink to="/costs" size="xs">
              {tokenNote}
            </TextLink>
          ) : (
            tokenNote
          )
        }
      >
        {format.compact(totals.input_tokens + totals.output_tokens)}
        {change(({ input_tokens, output_tokens }) => input_tokens + output_tokens)}
      </Figure>
      <Figure
        label={texts.attempts}
        note={
          attempts === 0
            ? texts.noAttempts
            : texts.attemptNote(
                format.percent(totals.attempts_succeeded / attempts),
                format.number(totals.attempts_failed),
              )
        }
      >
        {format.number(attempts)}
        {change(({ attempts_succeeded, attempts_failed }) => attempts_succeeded + attempts_failed)}
      </Figure>
      <Figure label={texts.waiting} note={<WaitingNote waiting={waiting} />}>
        {waiting === undefined ? texts.unknown : format.number(waiting.count)}
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
  const parts = [
    waiting.retrying > 0 && texts.retrying(format.number(waiting.retrying)),
    waiting.held > 0 && texts.held(format.number(waiting.held)),
  ].filter((part) => part !== false);
  return (
    <>
      {waiting.oldest_at !== undefined && (
        <>
          {texts.oldest} <Time value={waiting.oldest_at} />
          {parts.length > 0 && ', '}
        </>
      )}
      {parts.join(', ')}
    </>
  );
}
