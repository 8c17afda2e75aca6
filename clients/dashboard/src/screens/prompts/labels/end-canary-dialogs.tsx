import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { Dialog } from '../../../shared/dialog.tsx';
import { useOwnTexts } from '../../../shared/texts.tsx';
import { canaries } from '../../../texts/canaries.ts';
import { LabelQuestion } from './label-question.tsx';
import { useReleaseCheck } from './release-check.tsx';
import type { Canary } from './canary-queries.ts';

interface EndProps {
  readonly promptId: string;
  readonly label: Schemas['Label'];
  readonly canary: Canary;
  readonly onClose: () => void;
}
type DialogProps = EndProps & { readonly isOpen: boolean };

/** Asks before a canary is ended. */
export function EndCanaryDialog({ isOpen, canary, ...props }: DialogProps): ReactNode {
  const texts = useOwnTexts(canaries);
  const { name } = props.label;
  return (
    <Dialog opened={isOpen} onClose={props.onClose} title={texts.endTitle(name)}>
      <LabelQuestion
        {...props}
        text={() => texts.endText(name, canary.stable_version)}
        confirm={texts.end}
        send={(condition) => gateway.labels.deleteCanary(props.promptId, name, condition)}
        done={texts.endDone(name)}
      />
    </Dialog>
  );
}

/** Asks before the version of a canary is promoted, and shows what a gate says that was set after its start. */
export function PromoteCanaryDialog({ isOpen, ...props }: DialogProps): ReactNode {
  const texts = useOwnTexts(canaries);
  const title = texts.promoteTitle(props.label.name, props.canary.version);
  return (
    <Dialog opened={isOpen} onClose={props.onClose} size="lg" title={title}>
      <PromoteCanary {...props} />
    </Dialog>
  );
}

function PromoteCanary({ canary, ...props }: EndProps): ReactNode {
  const texts = useOwnTexts(canaries);
  const { promptId, label } = props;
  const { name } = label;
  const { version, stable_version: from } = canary;
  const check = useReleaseCheck({ promptId, name, version, from, isGateAsked: canary.gate === undefined });
  const { override } = check.members;
  return (
    <LabelQuestion
      {...props}
      text={() => texts.promoteText(name, version)}
      confirm={texts.promote}
      isDisabled={check.isGateClosed}
      // A promotion takes no reason. A move of the label does, and ends the canary.
      send={(condition) =>
        override === undefined
          ? gateway.labels.promoteCanary(promptId, name, condition)
          : gateway.labels.set(promptId, name, { version, accept_warnings: true, override }, condition)
      }
      done={texts.promoteDone(name, version)}
    >
      {check.breaking}
      {check.gate}
    </LabelQuestion>
  );
}
