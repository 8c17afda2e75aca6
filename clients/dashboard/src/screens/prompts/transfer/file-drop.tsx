import { Button, FileButton, Text } from '@mantine/core';
import { IconFileImport } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import { droppedFiles } from './dropped-files.ts';
import classes from './file-drop.module.css';

const accepted = '.json,.jsonl,.ndjson,.yaml,.yml,.md,.markdown,.prompt,.prompty,.txt,.j2';

/** Takes files and folders that are dropped on it, or chosen with its button. */
export function FileDrop({ onFiles, isBusy }: { onFiles: (files: File[]) => void; isBusy: boolean }): ReactNode {
  const { transfer: texts } = useTexts();
  const [isOver, setOver] = useState(false);
  return (
    <section
      aria-label={texts.files}
      className={classes.zone}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => {
        setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void droppedFiles(event.dataTransfer).then(onFiles);
      }}
    >
      <IconFileImport size={32} stroke={1.25} aria-hidden />
      <Text fw={500}>{texts.drop}</Text>
      <FileButton multiple accept={accepted} onChange={onFiles}>
        {(props) => (
          <Button variant="default" loading={isBusy} {...props}>
            {texts.choose}
          </Button>
        )}
      </FileButton>
      <Text size="sm" c="dimmed" maw={560}>
        {texts.formats}
      </Text>
    </section>
  );
}
