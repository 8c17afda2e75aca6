import { Button, FileButton, Text } from '@mantine/core';
import { IconFileImport } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { droppedFiles } from './dropped-files.ts';
import classes from './file-drop.module.css';

/** What `FileDrop` says. */
interface FileDropTexts {
  readonly files: string;
  readonly drop: string;
  readonly choose: string;
  readonly formats: string;
}

/** Takes files and folders that are dropped on it, or chosen with its button. */
export function FileDrop({
  texts,
  accepted,
  isMultiple,
  isBusy,
  onFiles,
}: {
  texts: FileDropTexts;
  /** The ends of the names that the button offers, separated by commas. */
  accepted: string;
  isMultiple: boolean;
  isBusy: boolean;
  onFiles: (files: File[]) => void;
}): ReactNode {
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
      <FileButton
        multiple={isMultiple}
        accept={accepted}
        onChange={(files: File[] | File | null) => {
          onFiles([files ?? []].flat());
        }}
      >
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
