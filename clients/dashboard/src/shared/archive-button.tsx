import { IconArchive, IconArchiveOff } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { AskButton } from './ask-button.tsx';
import { useTexts } from './texts.tsx';

/** What can be archived. */
export interface ArchiveButtonProps {
  name: string;
  isArchived: boolean;
  /** What archiving changes. */
  text: string;
  send: (archived: boolean) => Promise<void>;
}

/** Archives, or restores, after a question. */
export function ArchiveButton({ name, isArchived, text, send }: ArchiveButtonProps): ReactNode {
  const { archive: texts } = useTexts().shared;
  const action = isArchived ? texts.restore : texts.archive;
  return (
    <AskButton
      action={action}
      leftSection={isArchived ? <IconArchiveOff size={16} /> : <IconArchive size={16} />}
      title={isArchived ? texts.restoreTitle(name) : texts.archiveTitle(name)}
      text={isArchived ? texts.restoreText : text}
      confirm={action}
      isDangerous={!isArchived}
      send={() => send(!isArchived)}
      onDone={() => (isArchived ? texts.restored(name) : texts.archived(name))}
    />
  );
}
