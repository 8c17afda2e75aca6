import { Menu, Text, UnstyledButton, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { IconKeyboard, IconLogout, IconSelector, IconUserCircle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useRoleNames } from '../shared/role-names.ts';
import { useLanguage, useTexts } from '../shared/texts.tsx';
import { languages } from '../texts/languages.ts';
import { useSession } from './session-context.ts';
import classes from './shell.module.css';

const colorSchemes: readonly MantineColorScheme[] = ['light', 'dark', 'auto'];

/** Who is signed in, how the page looks, and signing out. */
export function AccountMenu({ onShortcuts }: { onShortcuts: () => void }): ReactNode {
  const { shell: texts } = useTexts();
  const { key, signOut } = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { language, choose } = useLanguage();
  const roleNames = useRoleNames();
  return (
    // Within the navigation, which is a landmark.
    <Menu position="top-start" width={216} withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <UnstyledButton className={classes.account} aria-label={texts.account(key.name)}>
          <IconUserCircle size={18} stroke={1.5} aria-hidden />
          <Text size="sm" fw={500} truncate flex={1}>
            {key.name}
          </Text>
          <IconSelector size={14} stroke={1.75} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {key.roles !== undefined && (
          <>
            <Menu.Label component="div">
              <Text size="sm" fw={500} c="var(--mantine-color-text)" style={{ overflowWrap: 'anywhere' }}>
                {key.name}
              </Text>
              {roleNames(key.roles)}
            </Menu.Label>
            <Menu.Divider />
          </>
        )}
        <Menu.Label>{texts.colorScheme}</Menu.Label>
        <Menu.RadioGroup
          value={colorScheme}
          onChange={(scheme) => {
            setColorScheme(scheme as MantineColorScheme);
          }}
        >
          {colorSchemes.map((scheme) => (
            <Menu.RadioItem key={scheme} value={scheme}>
              {texts.colorSchemes[scheme]}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        {Object.keys(languages).length > 1 && (
          <>
            <Menu.Divider />
            <Menu.Label>{texts.language}</Menu.Label>
            <Menu.RadioGroup value={language} onChange={choose}>
              {Object.entries(languages).map(([tag, { name }]) => (
                <Menu.RadioItem key={tag} value={tag}>
                  {name}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </>
        )}
        <Menu.Divider />
        <Menu.Item leftSection={<IconKeyboard size={16} stroke={1.5} />} onClick={onShortcuts}>
          {texts.shortcuts.title}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} stroke={1.5} />} onClick={signOut}>
          {texts.signOut}
        </Menu.Item>
        <Menu.Label>{texts.version(key.service_version)}</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  );
}
