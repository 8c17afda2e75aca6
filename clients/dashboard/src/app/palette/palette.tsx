import { Loader, Modal, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useTexts } from '../../shared/texts.tsx';
import classes from './palette.module.css';
import { useEntries, type Entry } from './use-entries.ts';

/** Searches what the key may see, and leads there: by arrow keys and Enter, or by a click. */
export function Palette({ onClose }: { onClose: () => void }): ReactNode {
  const { palette: texts } = useTexts().shell;
  const navigate = useNavigate();
  const [query, setQuery] = useState('');
  const [settled] = useDebouncedValue(query.trim(), 150);
  const { entries, isSearching } = useEntries(query.trim(), settled);
  const [chosen, setChosen] = useState(0);
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const position = Math.min(chosen, entries.length - 1);
  const idOf = (index: number): string => `${listId}-${index}`;

  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [position, entries]);

  const go = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    if (typeof entry.target === 'string') window.open(entry.target, '_blank', 'noopener');
    else void navigate(entry.target);
  };
  const press = (event: KeyboardEvent): void => {
    const steps: Partial<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (event.key === 'Enter') go(entries[position]);
    else if (step !== undefined) setChosen((position + step + entries.length) % Math.max(1, entries.length));
    else return;
    event.preventDefault();
  };

  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      centered={false}
      padding={0}
      size="lg"
      attributes={{ content: { 'aria-label': texts.title } }}
    >
      <TextInput
        data-autofocus
        variant="unstyled"
        size="md"
        px="sm"
        role="combobox"
        aria-label={texts.title}
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={entries.length > 0 ? idOf(position) : undefined}
        placeholder={texts.placeholder}
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={isSearching && <Loader size="xs" />}
        spellCheck={false}
        value={query}
        onKeyDown={press}
        onChange={(event) => {
          setQuery(event.currentTarget.value);
          setChosen(0);
        }}
      />
      <div ref={list} id={listId} role="listbox" aria-label={texts.results} className={classes.list}>
        {entries.map((entry, index) => (
          <div
            key={entry.key}
            id={idOf(index)}
            role="option"
            tabIndex={-1}
            aria-selected={index === position}
            className={classes.entry}
            onPointerMove={() => {
              setChosen(index);
            }}
            onClick={() => {
              go(entry);
            }}
            onKeyDown={press}
          >
            <entry.icon size={16} stroke={1.75} aria-hidden />
            <span className={classes.name}>{entry.name}</span>
            <span className={classes.hint}>{entry.hint}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && !isSearching && (
        <Text c="dimmed" size="sm" p="md" role="status">
          {texts.nothing}
        </Text>
      )}
    </Modal>
  );
}
