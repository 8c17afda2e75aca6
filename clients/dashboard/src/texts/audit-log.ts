import type { InEachLanguage } from '../shared/texts.tsx';
import { auditLog as de } from './de/audit-log.ts';
import { auditLog as en } from './en/audit-log.ts';

/** What the audit log says. Its screen loads it itself. */
export const auditLog: InEachLanguage<typeof en> = { en, de };
