import { Kbd, Modal } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import { useTexts } from '../../shared/texts.tsx';
import classes from './palette.module.css';

const command = /Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl';
const shortcuts = [
  { name: 'search', keys: [command, 'K'] },
  { name: 'help', keys: ['?'] },
  { name: 'save', keys: [command, 'S'] },
  { name: 'run', keys: [command, 'Enter'] },
  { name: 'close', keys: ['Esc'] },
] as const;

/** The shortcuts of the page. */
export function ShortcutList({ onClose }: { onClose: () => void }): ReactNode {
  const { shell, shared } = useTexts();
  const { shortcuts: texts } = shell;
  return (
    <Modal opened onClose={onClose} title={texts.title} closeButtonProps={{ 'aria-label': shared.close }}>
      <dl className={classes.keys}>
        {shortcuts.map(({ name, keys }) => (
          <Fragment key={name}>
            <dt>
              {keys.map((key, index) => (
                <Fragment key={key}>
                  {index > 0 && ' + '}
                  <Kbd>{key}</Kbd>
                </Fragment>
              ))}
            </dt>
            <dd>{texts.names[name]}</dd>
          </Fragment>
        ))}
      </dl>
    </Modal>
  );
}
