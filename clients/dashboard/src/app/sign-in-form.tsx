import { Alert, Button, PasswordInput, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ProblemAlert } from '../shared/problem-alert.tsx';
import { useTexts } from '../shared/texts.tsx';
import { createSession, isRefused, type CurrentKey } from './session.ts';

/** Asks for an API key and creates a session with it. */
export function SignInForm({
  onSignedIn,
  notice,
}: {
  onSignedIn: (key: CurrentKey) => void;
  /** Why the person has to sign in. */
  notice?: string | undefined;
}): ReactNode {
  const { session: texts } = useTexts();
  const [apiKey, setApiKey] = useState('');
  const [isMissing, setIsMissing] = useState(false);
  const signIn = useMutation({ mutationFn: createSession, onSuccess: onSignedIn });
  const hasRefused = isRefused(signIn.error);
  const problem = hasRefused ? texts.refused : undefined;

  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const value = apiKey.trim();
        setIsMissing(value === '');
        if (value !== '') signIn.mutate({ api_key: value });
      }}
    >
      <Stack>
        {notice !== undefined && !hasRefused && (
          <Alert color="yellow" role="status">
            {notice}
          </Alert>
        )}
        {signIn.isError && !hasRefused && <ProblemAlert error={signIn.error} />}
        <PasswordInput
          label={texts.key}
          description={texts.keyDescription}
          name="api-key"
          autoComplete="current-password"
          data-autofocus
          autoFocus
          required
          withAsterisk={false}
          value={apiKey}
          error={isMissing ? texts.keyMissing : problem}
          onChange={(event) => {
            setApiKey(event.currentTarget.value);
            setIsMissing(false);
            if (signIn.isError) signIn.reset();
          }}
        />
        <Button type="submit" loading={signIn.isPending} fullWidth>
          {texts.submit}
        </Button>
      </Stack>
    </form>
  );
}
