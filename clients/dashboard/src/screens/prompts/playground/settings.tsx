import { Button, Checkbox, Group, NativeSelect, NumberInput, Paper, Stack } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import { chosenVersion, RunSelect } from '../content/run-select.tsx';
import { TargetRow } from '../content/target-row.tsx';
import { TargetSelect } from '../content/target-select.tsx';
import { useProviders } from '../prompt-queries.ts';
import { useWorkspace, type PlaygroundSettings } from '../workspace/workspace-context.ts';
import { ParameterOverrides } from './parameter-overrides.tsx';
import classes from './playground.module.css';
import { RunRow } from './run-row.tsx';
import type { Draft } from './runs.ts';

/** The most that runs beside the first. */
const mostOthers = 5;

/** What runs, on what, and how. */
export function Settings({ draft }: { draft: Draft | undefined }): ReactNode {
  const { stored, playground, setPlayground } = useWorkspace();
  const { playground: texts } = useTexts().prompts;
  const { data: providers = [] } = useProviders();
  const used = new Set([playground, ...playground.others].map(({ provider }) => provider));
  const first =
    providers.find(({ id, configured }) => configured && !used.has(id)) ??
    providers.find(({ configured }) => configured);
  const { selected_provider, selected_model } = stored.data;
  const set = (changed: Partial<PlaygroundSettings>): void => {
    setPlayground({ ...playground, ...changed });
  };
  return (
    <Paper withBorder p="md" component="section" aria-label={texts.settings}>
      <Stack gap="sm">
        <div className={classes.pair}>
          <RunSelect
            prompt={stored.data}
            value={playground.run}
            {...(draft !== undefined && { latest: texts.draftOf(draft.version) })}
            onChange={(run) => {
              set({ run });
            }}
          />
          <NativeSelect
            label={texts.cache}
            value={playground.cache}
            data={(['default', 'max-age', 'no-cache', 'no-store', 'only-if-cached'] as const).map((value) => ({
              value,
              label: texts.caches[value],
            }))}
            onChange={(event) => {
              set({ cache: event.currentTarget.value as PlaygroundSettings['cache'] });
            }}
          />
        </div>
        {playground.cache === 'max-age' && (
          <NumberInput
            label={texts.maxAge}
            min={0}
            max={2_147_483_647}
            allowDecimal={false}
            allowNegative={false}
            value={playground.maxAge}
            onChange={(value) => {
              set({ maxAge: Number(value) });
            }}
          />
        )}
        <TargetSelect
          providers={providers}
          value={playground}
          placeholder={selected_provider === undefined ? texts.noSelection : texts.asSelected(selected_provider)}
          modelPlaceholder={selected_model === undefined ? undefined : texts.asSelected(selected_model)}
          onChange={set}
        />
        {playground.others.map((other, index) => {
          const change = (changed: Partial<typeof other>): void => {
            set({ others: playground.others.with(index, { ...other, ...changed }) });
          };
          const remove = (): void => {
            set({ others: playground.others.filter(({ key }) => key !== other.key) });
          };
          return other.run === undefined ? (
            <TargetRow
              key={other.key}
              name={texts.other(index + 2)}
              removal={texts.removeOther(index + 2)}
              providers={providers}
              value={other}
              onChange={change}
              onRemove={remove}
            />
          ) : (
            <RunRow
              key={other.key}
              name={texts.otherRun(index + 2)}
              removal={texts.removeOther(index + 2)}
              prompt={stored.data}
              value={other.run}
              latest={draft && texts.draftOf(draft.version)}
              onChange={(run) => {
                change({ run });
              }}
              onRemove={remove}
            />
          );
        })}
        {playground.others.length < mostOthers && (
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPlus size={14} />}
              onClick={() => {
                const added = { key: crypto.randomUUID(), provider: first?.id ?? '', model: '' };
                set({ others: [...playground.others, added] });
              }}
            >
              {texts.addOther}
            </Button>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPlus size={14} />}
              onClick={() => {
                const version = otherVersion(stored.data, playground, draft);
                const added = { key: crypto.randomUUID(), provider: '', model: '', run: { version } };
                set({ others: [...playground.others, added] });
              }}
            >
              {texts.addRun}
            </Button>
          </Group>
        )}
        <ParameterOverrides
          saved={stored.data.parameters ?? {}}
          value={playground.parameters}
          onChange={(parameters) => {
            set({ parameters });
          }}
        />
        <Checkbox
          size="xs"
          label={texts.stream}
          checked={playground.isStreamed}
          onChange={(event) => {
            set({ isStreamed: event.currentTarget.checked });
          }}
        />
        <Checkbox
          size="xs"
          label={texts.ignoreUnsupported}
          checked={playground.ignoresUnsupported}
          onChange={(event) => {
            set({ ignoresUnsupported: event.currentTarget.checked });
          }}
        />
      </Stack>
    </Paper>
  );
}

/** What someone most likely compares with: the saved version of a draft, or the version before. */
function otherVersion(
  prompt: Schemas['Prompt'],
  { run, others }: PlaygroundSettings,
  draft: Draft | undefined,
): number | undefined {
  const runs = [run, ...others.flatMap((other) => other.run ?? [])];
  const used = runs.map((one) => chosenVersion(one, prompt) ?? (draft === undefined ? prompt.version : 0));
  for (let version = prompt.version; version > 0; version -= 1) if (!used.includes(version)) return version;
  return undefined;
}
