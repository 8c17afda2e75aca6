import { Alert, Text } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import { useAuthorName } from '../../../shared/use-authors.ts';
import type { LabelChange } from './use-label-change.ts';

/** Says what someone else made of a label while it was being changed here. */
export function OvertakenAlert({
  name,
  change: { current, isOvertaken },
}: {
  name: string;
  change: Pick<LabelChange, 'current' | 'isOvertaken'>;
}): ReactNode {
  const { meanwhile: texts } = useTexts().labels;
  const nameOf = useAuthorName();
  if (!isOvertaken) return null;
  return (
    <Alert color="yellow" role="alert" icon={<IconInfoCircle />} title={texts.title}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {current === undefined
          ? texts.deleted(name)
          : texts.moved(name, current.data.version, nameOf(current.data.author))}{' '}
        {texts.nothingDone}
      </Text>
    </Alert>
  );
}
