import type { QueryClient } from '@tanstack/react-query';
import { promptKeys, type StoredPrompt } from './prompt-queries.ts';

/** Shows the saved state everywhere, and reads again what depends on it. */
export async function keepSaved(queryClient: QueryClient, saved: StoredPrompt): Promise<void> {
  const { id } = saved.data;
  await queryClient.cancelQueries({ queryKey: promptKeys.prompt(id) });
  queryClient.setQueryData(promptKeys.prompt(id), saved);
  void queryClient.invalidateQueries({ queryKey: promptKeys.lists });
  void queryClient.invalidateQueries({ queryKey: promptKeys.versions(id) });
}
