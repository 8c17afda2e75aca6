import { ActionIcon, Button, Group, Paper, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconPlus, IconTrash, IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { spotName, zoneInput, zoneName, zonesInput } from '../../generated/limits.ts';
import { useTexts } from '../../shared/texts.tsx';
import type { LocationFields } from './location-fields.ts';

/** Zones of a location, each with its spots. What keeps its id keeps its orders. */
export function ZonesEditor({ form }: { form: UseFormReturnType<LocationFields> }): ReactNode {
  const { form: texts } = useTexts().locations;
  const { zones } = form.values;
  return (
    <Paper withBorder p="lg" component="fieldset" m={0}>
      <Stack gap="md">
        <div>
          <Text fw={600} component="h2" m={0}>
            {texts.zones}
          </Text>
          <Text c="dimmed" size="sm">
            {texts.zonesDescription}
          </Text>
        </div>
        {zones.map((_, position) => (
          <Zone key={position} form={form} position={position} />
        ))}
        <Group>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconPlus size={14} />}
            disabled={zones.length >= zonesInput.maxItems}
            onClick={() => {
              form.insertListItem('zones', { name: '', spots: [{ name: '' }] });
            }}
          >
            {texts.addZone}
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}

function Zone({ form, position }: { form: UseFormReturnType<LocationFields>; position: number }): ReactNode {
  const { form: texts } = useTexts().locations;
  const zone = form.values.zones[position];
  if (zone === undefined) return null;
  const name = zone.name.trim() === '' ? String(position + 1) : zone.name;
  const spotsPath = `zones.${position}.spots`;
  return (
    <Paper bg="var(--surface-sunken)" p="md">
      <Stack gap="sm">
        <Group gap="xs" align="flex-start" wrap="nowrap">
          <TextInput
            flex={1}
            maw={340}
            aria-label={texts.zoneName(String(position + 1))}
            placeholder={texts.zonePlaceholder}
            maxLength={zoneName.maxLength}
            {...form.getInputProps(`zones.${position}.name`)}
          />
          <ActionIcon
            size="input-sm"
            variant="subtle"
            color="gray"
            ml="auto"
            aria-label={texts.removeZone(name)}
            onClick={() => {
              form.removeListItem('zones', position);
            }}
          >
            <IconTrash size={16} stroke={1.75} />
          </ActionIcon>
        </Group>
        {zone.spots.length > 0 && (
          <SimpleGrid cols={{ base: 2, sm: 3, md: 4 }} spacing="xs" verticalSpacing="xs">
            {zone.spots.map((spot, place) => (
              <TextInput
                key={place}
                aria-label={texts.spotName(String(place + 1), name)}
                placeholder={texts.spotPlaceholder}
                maxLength={spotName.maxLength}
                rightSection={
                  <ActionIcon
                    size="sm"
                    variant="subtle"
                    color="gray"
                    aria-label={texts.removeSpot(spot.name === '' ? String(place + 1) : spot.name)}
                    onClick={() => {
                      form.removeListItem(spotsPath, place);
                    }}
                  >
                    <IconX size={14} />
                  </ActionIcon>
                }
                {...form.getInputProps(`${spotsPath}.${place}.name`)}
              />
            ))}
          </SimpleGrid>
        )}
        <Group>
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<IconPlus size={14} />}
            disabled={zone.spots.length >= zoneInput.spots.maxItems}
            aria-label={texts.addSpotTo(name)}
            onClick={() => {
              form.insertListItem(spotsPath, { name: '' });
            }}
          >
            {texts.addSpot}
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}
