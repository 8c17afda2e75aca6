import type { QueryClient } from '@tanstack/react-query';
import { opening } from './opening.ts';
import { queryClient } from './query-client.ts';
import type { CurrentKey } from './session.ts';

/** Who opens a screen. */
export interface Reader {
  readonly queryClient: QueryClient;
  readonly key: CurrentKey;
}

/**
 * For `beforeLoad` of a route: starts what its screen reads first, while the script of the screen is loaded. The screen
 * then finds the query that runs, or its answer.
 */
export function readAhead(cause: 'enter' | 'stay' | 'preload', read: (reader: Reader) => void): void {
  if (cause !== 'enter') return;
  void opening.then((opened) => {
    if (opened.status === 'signed-in') read({ queryClient, key: opened.key });
  });
}
