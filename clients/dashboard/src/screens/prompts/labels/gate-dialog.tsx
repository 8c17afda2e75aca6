import { Skeleton } from '@mantine/core';
import { lazy, Suspense, type ReactNode } from 'react';
import { Dialog } from '../../../shared/dialog.tsx';
import { useOwnTexts } from '../../../shared/texts.tsx';
import { gates } from '../../../texts/gates.ts';
import type { GateProps } from './gate-content.tsx';

const GateContent = lazy(() => import('./gate-content.tsx').then((loaded) => ({ default: loaded.GateContent })));

/** The gate of a label. Its form is loaded when somebody opens it. */
export function GateDialog({ isOpen, ...props }: GateProps & { readonly isOpen: boolean }): ReactNode {
  const { dialog: texts } = useOwnTexts(gates);
  return (
    <Dialog opened={isOpen} onClose={props.onClose} size="xl" title={texts.title(props.name)}>
      <Suspense fallback={<Skeleton h={240} />}>
        <GateContent {...props} />
      </Suspense>
    </Dialog>
  );
}
