import { useMediaQuery } from '@mantine/hooks';

/** Whether the window is as narrow as a phone: there, rows are cards and filters are behind a button. */
export function useIsPhone(): boolean {
  return useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
}
