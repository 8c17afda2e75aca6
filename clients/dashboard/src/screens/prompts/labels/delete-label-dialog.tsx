import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { Dialog } from '../../../shared/dialog.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { LabelQuestion } from './label-question.tsx';

/** Asks before a label is deleted. */
export function DeleteLabelDialog({
  isOpen,
  ...props
}: {
  promptId: string;
  label: Schemas['Label'];
  isOpen: boolean;
  onClose: () => void;
}): ReactNode {
  const { deletion: texts } = useTexts().labels;
  const { name } = props.label;
  return (
    <Dialog opened={isOpen} onClose={props.onClose} title={texts.title(name)}>
      <LabelQuestion
        {...props}
        text={(version) => texts.text(name, version)}
        confirm={texts.submit}
        isDangerous
        send={(condition) => gateway.labels.delete(props.promptId, name, condition)}
        done={texts.done(name)}
      />
    </Dialog>
  );
}
