import { Kbd, Stack, Switch } from '@mantine/core';
import { Fragment, useState, type ReactNode } from 'react';
import { Dialog } from '../../shared/dialog.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { areKeysOn, setKeys } from '../keys.ts';
import { entriesFor } from '../navigation.ts';
import { useSession } from '../session-context.ts';
import classes from './palette.module.css';

const command = /Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl';
const ofCommand = [
  { name: 'search', keys: [command, 'K'] },
  { name: 'save', keys: [command, 'S'] },
  { name: 'run', keys: [command, 'Enter'] },
  { name: 'close', keys: ['Esc'] },
] as const;
const ofOneCharacter = [
  { name: 'search', keys: ['/'] },
  { name: 'help', keys: ['?'] },
  { name: 'next', keys: ['j'] },
  { name: 'previous', keys: ['k'] },
] as const;

/** The shortcuts of the page. Those of one character can be switched off. */
export function ShortcutList({ onClose }: { onClose: () => void }): ReactNode {
  const { shell } = useTexts();
  const { shortcuts: texts } = shell;
  const { scopes } = useSession().key;
  const [isOn, setOn] = useState(areKeysOn);
  return (
    <Dialog opened onClose={onClose} title={texts.title}>
      <Stack>
        <dl className={classes.keys}>
          {ofCommand.map(({ name, keys }) => (
            <Shortcut key={name} keys={keys} name={texts.names[name]} />
          ))}
        </dl>
        <Switch
          label={texts.single}
          description={texts.singleDescription}
          checked={isOn}
          onChange={({ currentTarget: { checked } }) => {
            setKeys(checked);
            setOn(checked);
          }}
        />
        {isOn && (
          <dl className={classes.keys}>
            {ofOneCharacter.map(({ name, keys }) => (
              <Shortcut key={name} keys={keys} name={texts.names[name]} />
            ))}
            {entriesFor(scopes).map(({ text, key }) => (
              <Shortcut key={key} keys={['g', key]} by=" " name={texts.goTo(shell.entries[text])} />
            ))}
          </dl>
        )}
      </Stack>
    </Dialog>
  );
}

/** @param by what stands between the keys */
function Shortcut({ keys, name, by = ' + ' }: { keys: readonly string[]; name: string; by?: string }): ReactNode {
  return (
    <>
      <dt>
        {keys.map((key, index) => (
          <Fragment key={key}>
            {index > 0 && by}
            <Kbd>{key}</Kbd>
          </Fragment>
        ))}
      </dt>
      <dd>{name}</dd>
    </>
  );
}
