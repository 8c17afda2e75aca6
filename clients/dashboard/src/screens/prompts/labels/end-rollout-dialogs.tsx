import { Modal } from '@mantine/core';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { ConfirmQuestion } from '../../../shared/confirm-dialog.tsx';
import { useNotify } from '../../../shared/notify.ts';
import { useOwnTexts, useTexts } from '../../../shared/texts.tsx';
import { rollouts } from '../../../texts/rollouts.ts';
import { OvertakenAlert } from './overtaken-alert.tsx';
import { useReleaseCheck } from './release-check.tsx';
import type { Rollout } from './rollout-queries.ts';
import { useLabelChange } from './use-label-change.ts';

interface EndProps {
  readonly promptId: string;
  readonly label: Schemas['Label'];
  readonly rollout: Rollout;
  readonly onClose: () => void;
}
type DialogProps = EndProps & { readonly isOpen: boolean };

/** Asks before a rollout is ended. */
export function EndRolloutDialog({ isOpen, ...props }: DialogProps): ReactNode {
  const { shared } = useTexts();
  const texts = useOwnTexts(rollouts);
  return (
    <Modal
      opened={isOpen}
      onClose={props.onClose}
      title={texts.endTitle(props.label.name)}
      closeButtonProps={{ 'aria-label': shared.close }}
    >
      <EndRollout {...props} />
    </Modal>
  );
}

function EndRollout({ promptId, label: { name }, rollout, onClose }: EndProps): ReactNode {
  const texts = useOwnTexts(rollouts);
  const notify = useNotify();
  const change = useLabelChange({
    promptId,
    name,
    isListed: true,
    send: (current) => gateway.labels.deleteRollout(promptId, name, { ifMatch: current?.etag }),
    onDone: () => {
      notify(texts.endDone(name));
      onClose();
    },
  });
  return (
    <ConfirmQuestion
      text={texts.endText(name, rollout.stable_version)}
      confirm={texts.end}
      isPending={change.isPending || change.isReading}
      error={change.error}
      onConfirm={change.submit}
      onClose={onClose}
    >
      <OvertakenAlert name={name} change={change} />
    </ConfirmQuestion>
  );
}

/** Asks before the version of a rollout is promoted, and shows what a gate says that was set after its start. */
export function PromoteRolloutDialog({ isOpen, ...props }: DialogProps): ReactNode {
  const { shared } = useTexts();
  const texts = useOwnTexts(rollouts);
  return (
    <Modal
      opened={isOpen}
      onClose={props.onClose}
      size="lg"
      title={texts.promoteTitle(props.label.name, props.rollout.version)}
      closeButtonProps={{ 'aria-label': shared.close }}
    >
      <PromoteRollout {...props} />
    </Modal>
  );
}

function PromoteRollout({ promptId, label: { name }, rollout, onClose }: EndProps): ReactNode {
  const texts = useOwnTexts(rollouts);
  const notify = useNotify();
  const { version, stable_version: from } = rollout;
  const check = useReleaseCheck({ promptId, name, version, from, isGateAsked: rollout.gate === undefined });
  const { override } = check.members;
  const change = useLabelChange({
    promptId,
    name,
    isListed: true,
    send: (current) => {
      const condition = { ifMatch: current?.etag };
      // A promotion takes no reason. A move of the label does, and ends the rollout.
      return override === undefined
        ? gateway.labels.promoteRollout(promptId, name, condition)
        : gateway.labels.set(promptId, name, { version, accept_warnings: true, override }, condition);
    },
    onDone: () => {
      notify(texts.promoteDone(name, version));
      onClose();
    },
  });
  return (
    <ConfirmQuestion
      text={texts.promoteText(name, version)}
      confirm={texts.promote}
      isPending={change.isPending || change.isReading}
      isDisabled={check.isGateClosed}
      error={change.error}
      onConfirm={change.submit}
      onClose={onClose}
    >
      <OvertakenAlert name={name} change={change} />
      {check.breaking}
      {check.gate}
    </ConfirmQuestion>
  );
}
