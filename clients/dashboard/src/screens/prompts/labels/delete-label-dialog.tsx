import { Modal } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { ConfirmQuestion } from '../../../shared/confirm-dialog.tsx';
import { useNotify } from '../../../shared/notify.ts';
import { useTexts } from '../../../shared/texts.tsx';
import { OvertakenAlert } from './overtaken-alert.tsx';
import { useLabelChange } from './use-label-change.ts';

interface DeleteLabelProps {
  readonly promptId: string;
  readonly label: Schemas['Label'];
  readonly onClose: () => void;
}

/** Asks before a label is deleted. */
export function DeleteLabelDialog({ isOpen, ...props }: DeleteLabelProps & { readonly isOpen: boolean }): ReactNode {
  const { shared, labels } = useTexts();
  return (
    <Modal
      opened={isOpen}
      onClose={props.onClose}
      title={labels.deletion.title(props.label.name)}
      closeButtonProps={{ 'aria-label': shared.close }}
    >
      <DeleteLabel {...props} />
    </Modal>
  );
}

function DeleteLabel({ promptId, label: { name, version }, onClose }: DeleteLabelProps): ReactNode {
  const { deletion: texts } = useTexts().labels;
  const notify = useNotify();
  const change = useLabelChange({
    promptId,
    name,
    isListed: true,
    send: (current) => gateway.labels.delete(promptId, name, { ifMatch: current?.etag }),
    onDone: () => {
      notify(texts.done(name));
      onClose();
    },
  });
  return (
    <ConfirmQuestion
      text={texts.text(name, change.current?.data.version ?? version)}
      confirm={texts.submit}
      isDangerous
      isPending={change.isPending || change.isReading}
      error={change.error}
      onConfirm={change.submit}
      onClose={onClose}
    >
      <OvertakenAlert name={name} change={change} />
    </ConfirmQuestion>
  );
}
