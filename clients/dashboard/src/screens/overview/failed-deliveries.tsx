import type { ReactNode } from 'react';
import { Time } from '../../shared/time.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { DeliveryStatus } from '../deliveries/delivery-status.tsx';
import { useOutcomeText } from '../deliveries/outcome-words.tsx';
import { Panel, PanelList, PanelNote, PanelRow } from './panel.tsx';
import { useFailedDeliveries } from './queries.ts';

/** The last deliveries that failed: those that are tried again, and those that were given up. */
export function FailedDeliveries(): ReactNode {
  const { failures: texts } = useTexts().overview;
  const outcomeText = useOutcomeText();
  const failed = useFailedDeliveries();
  const rows = failed.data ?? [];
  return (
    <Panel
      title={texts.title}
      all={{
        label: texts.all,
        to: '/deliveries',
        search: { status: rows[0]?.status === 'retrying' ? 'retrying' : 'failed' },
      }}
      query={failed}
    >
      {rows.length === 0 ? (
        <PanelNote isGood>{texts.none}</PanelNote>
      ) : (
        <PanelList>
          {rows.map(({ id, event_type, integration_name, integration_id, status, last_outcome, created_at }) => (
            <PanelRow
              key={id}
              name={event_type}
              target={{ to: '/deliveries/$id', params: { id } }}
              text={[
                integration_name ?? integration_id,
                ...(last_outcome === undefined ? [] : [outcomeText(last_outcome)]),
              ].join(' · ')}
            >
              <DeliveryStatus status={status} />
              <Time value={created_at} />
            </PanelRow>
          ))}
        </PanelList>
      )}
    </Panel>
  );
}
