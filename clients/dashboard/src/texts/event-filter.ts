import type { InEachLanguage } from '../shared/texts.tsx';
import { eventFilter as de } from './de/event-filter.ts';
import { eventFilter as en } from './en/event-filter.ts';

/** What the filter of an integration says. Its screens load it themselves. */
export const eventFilter: InEachLanguage<typeof en> = { en, de };
