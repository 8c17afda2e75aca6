import type { ReactNode } from 'react';
import { useFormat, useTexts } from '../../shared/texts.tsx';
import { ProviderBadge } from '../providers/provider-badge.tsx';
import { useProviders } from '../providers/queries.ts';
import { Panel, PanelList, PanelNote, PanelRow } from './panel.tsx';

/** The providers that prompts can run on. */
export function ProviderStatus(): ReactNode {
  const { providers: texts } = useTexts().overview;
  const format = useFormat();
  const providers = useProviders();
  const configured = (providers.data ?? []).filter((provider) => provider.configured);
  const others = (providers.data ?? []).length - configured.length;
  const isOnlyEcho = configured.every(({ id }) => id === 'echo');
  return (
    <Panel title={texts.title} all={{ label: texts.all, to: '/providers' }} query={providers}>
      <PanelList>
        {configured.map((provider) => (
          <PanelRow
            key={provider.id}
            name={provider.name}
            target={{ to: '/providers', search: { provider: provider.id } }}
            text={provider.defaultModel}
          >
            <ProviderBadge provider={provider} />
          </PanelRow>
        ))}
      </PanelList>
      {others > 0 && <PanelNote>{isOnlyEcho ? texts.onlyEcho : texts.more(format.number(others))}</PanelNote>}
    </Panel>
  );
}
