import type { QueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import type { Versioned } from '../../shared/versioned.ts';

/** Keys of what these screens read. A change invalidates the first one, and with it everything below. */
export const productsKey = ['products'] as const;
export const categoriesKey = ['categories'] as const;

/** Shows the answer of a change at once, and reads what depends on it again. */
export function storeProduct(queryClient: QueryClient, saved: Versioned<Schemas['Product']>): void {
  queryClient.setQueryData([...productsKey, saved.data.id], saved);
  void queryClient.invalidateQueries({ queryKey: productsKey });
  void queryClient.invalidateQueries({ queryKey: ['locations'] });
}

/** Shows the answer of a change at once, and reads what depends on it again. */
export function storeCategory(queryClient: QueryClient, saved: Versioned<Schemas['Category']>): void {
  queryClient.setQueryData([...categoriesKey, saved.data.id], saved);
  void queryClient.invalidateQueries({ queryKey: categoriesKey });
  void queryClient.invalidateQueries({ queryKey: ['locations'] });
}
