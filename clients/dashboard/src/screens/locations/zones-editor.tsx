import { ActionIcon, SimpleGrid, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { spotName, zoneInput, zoneName, zonesInput } from '../../generated/limits.ts';
import { AddEntry, EntryCard } from '../../shared/form-list.tsx';
import { Section } from '../../shared/section.tsx';
import { useTexts } from '../../shared/texts.tsx';
import type { LocationFields } from './location-fields.ts';

/** Zones of a location, each with its spots. What keeps its id keeps its orders. */
export function ZonesEditor({ form }: { form: UseFormReturnType<LocationFields> }): ReactNode {
  const { form: texts } = useTexts().locations;
  const { zones } = form.values;
  return (
    <Section title={texts.zones} description={texts.zonesDescription}>
      {zones.map(({ name: typed, spots }, position) => {
        const name = typed.trim() === '' ? String(position + 1) : typed;
        const spotsPath = `zones.${position}.spots`;
        return (
          <EntryCard
            key={position}
            form={form}
            path="zones"
            position={position}
            aria-label={texts.zoneName(String(position + 1))}
            placeholder={texts.zonePlaceholder}
            maxLength={zoneName.maxLength}
            remove={texts.removeZone(name)}
          >
            {spots.length > 0 && (
              <SimpleGrid cols={{ base: 2, sm: 3, md: 4 }} spacing="xs" verticalSpacing="xs">
                {spots.map((spot, place) => (
                  <TextInput
                    key={place}
                    aria-label={texts.spotName(String(place + 1), name)}
                    placeholder={texts.spotPlaceholder}
                    maxLength={spotName.maxLength}
                    rightSection={
                      <ActionIcon
                        size="sm"
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
            <AddEntry
              form={form}
              path={spotsPath}
              entry={{ name: '' }}
              disabled={spots.length >= zoneInput.spots.maxItems}
              variant="subtle"
              aria-label={texts.addSpotTo(name)}
            >
              {texts.addSpot}
            </AddEntry>
          </EntryCard>
        );
      })}
      <AddEntry
        form={form}
        path="zones"
        entry={{ name: '', spots: [{ name: '' }] }}
        disabled={zones.length >= zonesInput.maxItems}
      >
        {texts.addZone}
      </AddEntry>
    </Section>
  );
}
