import type { ReactNode } from 'react';
import { useNow } from './now.tsx';
import { useFormat, useTexts } from './texts.tsx';

/**
 * How long ago something was, or when it will be, with the exact time on hover.
 * @param value an instant of the API; without one, a dash or `empty` is shown
 * @param isLong writes it without abbreviations, for sentences
 */
export function RelativeTime({
  value,
  empty,
  isLong = false,
}: {
  value: string | null | undefined;
  empty?: ReactNode;
  isLong?: boolean;
}): ReactNode {
  const format = useFormat();
  const now = useNow();
  const { shared } = useTexts();
  if (value === undefined || value === null) return empty ?? shared.none;
  // An answer can be newer than the clock of the page.
  const latest = Math.max(now, Math.min(new Date(value).getTime(), now + 10_000));
  return (
    <time dateTime={value} title={format.dateTime(value)}>
      {format.relative(value, latest, isLong ? 'long' : 'short')}
    </time>
  );
}
