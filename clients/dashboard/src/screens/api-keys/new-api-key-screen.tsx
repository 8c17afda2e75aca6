import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { ForScope } from '../../shared/for-scope.tsx';
import { Page } from '../../shared/page.tsx';
import { useTexts } from '../../shared/texts.tsx';
import { CreatedKey } from './created-key.tsx';
import { NewKeyForm } from './new-key-form.tsx';
import { apiKeysKey } from './queries.ts';

/** The form of a new key, then the key, which is shown only here. */
export function NewApiKeyScreen(): ReactNode {
  const { apiKeys: texts } = useTexts();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [created, setCreated] = useState<Schemas['ApiKeyCreated']>();
  const breadcrumbs = [{ label: texts.title, to: '/api-keys' as const }];

  if (created !== undefined) {
    return (
      <Page title={texts.created.title} description={texts.created.text} breadcrumbs={breadcrumbs}>
        <CreatedKey created={created} onDone={() => void navigate({ to: '/api-keys' })} />
      </Page>
    );
  }
  return (
    <Page title={texts.form.title} description={texts.form.description} breadcrumbs={breadcrumbs}>
      <ForScope scope="keys:manage">
        <NewKeyForm
          onCreated={(key) => {
            setCreated(key);
            void queryClient.invalidateQueries({ queryKey: apiKeysKey });
          }}
        />
      </ForScope>
    </Page>
  );
}
