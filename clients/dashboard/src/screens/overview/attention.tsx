import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import type { Texts } from '../../texts/en.ts';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { IntegrationStatus } from '../integrations/integration-status.tsx';
import { Panel, PanelList, PanelNote, PanelRow } from './panel.tsx';
import { useIntegrations } from './queries.ts';

type Integration = Schemas['Integration'];

const mostShown = 5;

/** Integrations that are disabled, or whose receivers fail: the most serious first. Nothing without integrations. */
export function Attention(): ReactNode {
  const { attention: texts } = useTexts().overview;
  const format = useFormat();
  const integrations = useIntegrations();
  const all = integrations.data ?? [];
  if (integrations.data?.length === 0) return null;
  const affected = all
    .filter((integration) => seriousness(integration) > 0)
    .sort((one, other) => seriousness(other) - seriousness(one));
  return (
    <Panel title={texts.title} all={{ label: texts.all, to: '/integrations' }} query={integrations}>
      {affected.length === 0 ? (
        <PanelNote isGood>{texts.healthy(format.number(all.length))}</PanelNote>
      ) : (
        <PanelList>
          {affected.slice(0, mostShown).map((integration) => (
            <PanelRow
              key={integration.id}
              name={integration.name}
              target={{ to: '/integrations/$id', params: { id: integration.id } }}
              text={reason(integration, texts, format.number)}
            >
              <IntegrationStatus integration={integration} />
              {integration.waiting !== undefined && texts.waiting(format.number(integration.waiting.count))}
            </PanelRow>
          ))}
        </PanelList>
      )}
      {affected.length > mostShown && <PanelNote>{texts.more(format.number(affected.length - mostShown))}</PanelNote>}
    </Panel>
  );
}

/** 0 for an integration that works, or that someone paused. */
function seriousness({ status, retrying_until, consecutive_failures }: Integration): number {
  if (status === 'disabled') return 3;
  if (status !== 'active') return 0;
  if (retrying_until !== undefined) return 2;
  return consecutive_failures > 0 ? 1 : 0;
}

function reason(
  { status, disabled_reason, last_error, consecutive_failures }: Integration,
  texts: Texts['overview']['attention'],
  number: (value: number) => string,
): string {
  if (status === 'disabled') {
    if (disabled_reason === 'gone') return texts.gone;
    return disabled_reason === 'failing' ? texts.failing : texts.disabled;
  }
  const error =
    last_error?.error ?? (last_error?.status_code === undefined ? [] : texts.status(String(last_error.status_code)));
  return [error, texts.inARow(number(consecutive_failures))].flat().join(' · ');
}
