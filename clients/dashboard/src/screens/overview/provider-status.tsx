import type { ReactNode } from 'react';
import { StatusBadge } from '../../shared/status-badge.tsx';
import { useFormat, useTexts } from '../../shared/texts.tsx';
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
        {configured.map(({ id, name, defaultModel }) => (
          <PanelRow key={id} name={name} target={{ to: '/providers', search: { provider: id } }} text={defaultModel}>
            <StatusBadge tone="ok">{texts.configured}</StatusBadge>
          </PanelRow>
        ))}
      </PanelList>
      {others > 0 && <PanelNote>{isOnlyEcho ? texts.onlyEcho : texts.more(format.number(others))}</PanelNote>}
    </Panel>
  );
}
