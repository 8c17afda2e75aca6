import { notifications } from '@mantine/notifications';
import { useTexts } from './texts.tsx';

/** Shows a short message in the corner of the page: what was done. Failures are shown where they happen. */
export function useNotify(): (message: string) => void {
  const { shared } = useTexts();
  return (message) => {
    notifications.show({ message, role: 'status', closeButtonProps: { 'aria-label': shared.close } });
  };
}
