import { ActionIcon, Button, Group, Paper, Stack, TextInput } from '@mantine/core';
import type { ActionIconProps, ButtonProps, TextInputProps } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** A list that a form edits. */
interface FormList {
  form: {
    getInputProps: (path: string) => object;
    insertListItem: (path: string, entry: unknown) => void;
    removeListItem: (path: string, position: number) => void;
  };
  /** Of the list in the form, such as `zones.0.spots`. */
  path: string;
}

/** A button that adds an entry. */
export function AddEntry({
  form,
  path,
  entry,
  ...button
}: FormList & { entry: object; 'aria-label'?: string | undefined } & ButtonProps): ReactNode {
  return (
    <Group>
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<IconPlus size={14} />}
        onClick={() => {
          form.insertListItem(path, entry);
        }}
        {...button}
      />
    </Group>
  );
}

/** A button that removes an entry, beside its inputs. */
export function RemoveEntry({
  form,
  path,
  position,
  ...button
}: FormList & { position: number; 'aria-label': string } & ActionIconProps): ReactNode {
  return (
    <ActionIcon
      size="input-sm"
      onClick={() => {
        form.removeListItem(path, position);
      }}
      {...button}
    >
      <IconTrash size={16} stroke={1.75} />
    </ActionIcon>
  );
}

/** An entry with a name and further inputs. @param remove what the button says that removes it */
export function EntryCard({
  form,
  path,
  position,
  remove,
  children,
  ...input
}: FormList & { position: number; remove: string } & Omit<TextInputProps, 'form'>): ReactNode {
  return (
    <Paper bg="var(--surface-sunken)" p="md">
      <Stack gap="sm">
        <Group gap="xs" align="flex-start" wrap="nowrap">
          <TextInput flex={1} miw={0} maw={340} {...input} {...form.getInputProps(`${path}.${position}.name`)} />
          <RemoveEntry form={form} path={path} position={position} ml="auto" aria-label={remove} />
        </Group>
        {children}
      </Stack>
    </Paper>
  );
}
