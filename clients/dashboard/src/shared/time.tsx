import type { ReactNode } from 'react';
import { useNow } from './now.tsx';
import { useFormat, useTexts } from './texts.tsx';

/**
 * When something was or will be, to the second. On hover, how far away that is.
 * @param value an instant of the API; without one, a dash or `empty` is shown
 * @param isDistant shows how far away it is as well, for sentences about what will be
 */
export function Time({
  value,
  empty,
  isDistant = false,
}: {
  value: string | null | undefined;
  empty?: ReactNode;
  isDistant?: boolean;
}): ReactNode {
  const format = useFormat();
  const now = useNow();
  const { shared } = useTexts();
  if (value === undefined || value === null) return empty ?? shared.none;
  // An answer can be newer than the clock of the page.
  const latest = Math.max(now, Math.min(new Date(value).getTime(), now + 10_000));
  const distance = format.relative(value, latest);
  const exact = format.exact(value, now);
  return (
    <time
      dateTime={value}
      title={`${format.dateTime(value)} (${distance})`}
      style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: isDistant ? undefined : 'nowrap' }}
    >
      {isDistant ? `${distance} (${exact})` : exact}
    </time>
  );
}
