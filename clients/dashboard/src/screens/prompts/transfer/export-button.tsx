import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconDownload } from '@tabler/icons-react';
import { lazy, Suspense, type ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';

const ExportDialog = lazy(async () => ({ default: (await import('./export-dialog.tsx')).ExportDialog }));

/** Opens the choice of what is written into a file. */
export function ExportButton(): ReactNode {
  const { transfer } = useTexts();
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" leftSection={<IconDownload size={16} />} onClick={open}>
        {transfer.export.button}
      </Button>
      <Suspense>{isOpen && <ExportDialog onClose={close} />}</Suspense>
    </>
  );
}
