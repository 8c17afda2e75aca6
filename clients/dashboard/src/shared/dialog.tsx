import { Modal, type ModalProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from './texts.tsx';

/** A dialog whose button to close it has a name. What stands in it is there only while it is open. */
export function Dialog(props: ModalProps): ReactNode {
  const { close } = useTexts().shared;
  return <Modal closeButtonProps={{ 'aria-label': close }} {...props} />;
}
