import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { Dialog } from '../../../shared/dialog.tsx';
import { useOwnTexts } from '../../../shared/texts.tsx';
import { rollouts } from '../../../texts/canaries.ts';
import { LabelQuestion } from './label-question.tsx';
import { useReleaseCheck } from './release-check.tsx';
import type { Rollout } from './canary-queries.ts';

interface EndProps {
  readonly promptId: string;
  readonly label: Schemas['Label'];
  readonly rollout: Rollout;
  readonly onClose: () => void;
}
type DialogProps = EndProps & { readonly isOpen: boolean };

/** Asks before a rollout is ended. */
export function EndRolloutDialog({ isOpen, rollout, ...props }: DialogProps): ReactNode {
  const texts = useOwnTexts(rollouts);
  const { name } = props.label;
  return (
    <Dialog opened={isOpen} onClose={props.onClose} title={texts.endTitle(name)}>
      <LabelQuestion
        {...props}
        text={() => texts.endText(name, rollout.stable_version)}
        confirm={texts.end}
        send={(condition) => gateway.labels.deleteRollout(props.promptId, name, condition)}
        done={texts.endDone(name)}
      />
    </Dialog>
  );
}

/** Asks before the version of a rollout is promoted, and shows what a gate says that was set after its start. */
export function PromoteRolloutDialog({ isOpen, ...props }: DialogProps): ReactNode {
  const texts = useOwnTexts(rollouts);
  const title = texts.promoteTitle(props.label.name, props.rollout.version);
  return (
    <Dialog opened={isOpen} onClose={props.onClose} size="lg" title={title}>
      <PromoteRollout {...props} />
    </Dialog>
  );
}

function PromoteRollout({ rollout, ...props }: EndProps): ReactNode {
  const texts = useOwnTexts(rollouts);
  const { promptId, label } = props;
  const { name } = label;
  const { version, stable_version: from } = rollout;
  const check = useReleaseCheck({ promptId, name, version, from, isGateAsked: rollout.gate === undefined });
  const { override } = check.members;
  return (
    <LabelQuestion
      {...props}
      text={() => texts.promoteText(name, version)}
      confirm={texts.promote}
      isDisabled={check.isGateClosed}
      // A promotion takes no reason. A move of the label does, and ends the rollout.
      send={(condition) =>
        override === undefined
          ? gateway.labels.promoteRollout(promptId, name, condition)
          : gateway.labels.set(promptId, name, { version, accept_warnings: true, override }, condition)
      }
      done={texts.promoteDone(name, version)}
    >
      {check.breaking}
      {check.gate}
    </LabelQuestion>
  );
}
