import type { AuthorRef } from '../limits/principal.ts';
import { same } from './kinds.ts';

/** Who made something, as it is stored and shown. */
export const author = same<AuthorRef>();
