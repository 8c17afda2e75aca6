import { Text, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useId, useState, type ReactNode } from 'react';
import classes from './generation.module.css';

interface DisclosureProps {
  readonly title: string;
  /** What is set inside, in few words. */
  readonly summary: string;
  /** Opens it when a mistake appears inside. */
  readonly hasMistake?: boolean;
  readonly children: ReactNode;
}

/** A part of a form that is folded away; its editors are loaded when it is opened. */
export function Disclosure({ title, summary, hasMistake = false, children }: DisclosureProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [hadMistake, setHadMistake] = useState(false);
  const id = useId();
  if (hasMistake !== hadMistake) {
    setHadMistake(hasMistake);
    if (hasMistake) setOpen(true);
  }
  return (
    <div className={classes.disclosure} data-open={isOpen || undefined}>
      <UnstyledButton
        className={classes.toggle}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => {
          setOpen(!isOpen);
        }}
      >
        {isOpen ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
        <span className={classes.title}>{title}</span>
        <Text span size="sm" c={hasMistake ? 'var(--mantine-color-error)' : 'dimmed'} className={classes.summary}>
          {summary}
        </Text>
      </UnstyledButton>
      {isOpen && (
        <div id={id} className={classes.content}>
          {children}
        </div>
      )}
    </div>
  );
}
