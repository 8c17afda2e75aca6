import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { ConfirmQuestion, type ConfirmDialogProps } from '../../../shared/confirm-dialog.tsx';
import { useNotify } from '../../../shared/notify.ts';
import type { Versioned } from '../../../shared/versioned.ts';
import { OvertakenAlert } from './overtaken-alert.tsx';
import { useLabelChange } from './use-label-change.ts';

/**
 * A question before a label is changed, for a dialog: it says what somebody else made of the label meanwhile.
 * @param props.text gets the version that the label names now
 * @param props.send sends the change with the `ETag` of what the person has seen
 * @param props.done says what was done
 */
export function LabelQuestion({
  promptId,
  label: { name, version },
  text,
  send,
  done,
  onClose,
  children,
  ...question
}: {
  promptId: string;
  label: Schemas['Label'];
  text: (version: number) => string;
  send: (condition: { ifMatch: Versioned<Schemas['Label']>['etag'] | undefined }) => Promise<unknown>;
  done: string;
} & Pick<ConfirmDialogProps, 'confirm' | 'isDangerous' | 'isDisabled' | 'onClose' | 'children'>): ReactNode {
  const notify = useNotify();
  const change = useLabelChange({
    promptId,
    name,
    isListed: true,
    send: (current) => send({ ifMatch: current?.etag }),
    onDone: () => {
      notify(done);
      onClose();
    },
  });
  return (
    <ConfirmQuestion
      {...question}
      text={text(change.current?.data.version ?? version)}
      isPending={change.isPending || change.isReading}
      error={change.error}
      onConfirm={change.submit}
      onClose={onClose}
    >
      <OvertakenAlert name={name} change={change} />
      {children}
    </ConfirmQuestion>
  );
}
