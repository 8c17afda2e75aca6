import { Alert, Button, Divider, PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { ProblemAlert } from '../shared/problem-alert.tsx';
import { useTexts } from '../shared/texts.tsx';
import {
  accountSignInUrl,
  createSession,
  isRefused,
  readSignInWays,
  type CurrentKey,
  type SignInWays,
} from './session.ts';

interface SignInProps {
  onSignedIn: (key: CurrentKey) => void;
  /** Why the person has to sign in. */
  notice?: string | undefined;
  /** Whether a page is below, which has to stay as it is. */
  isOverPage?: boolean;
}

const newTab = { target: '_blank', rel: 'noopener' };

/** Offers the ways to sign in that the service has. */
export function SignInForm(props: SignInProps): ReactNode {
  const { session: texts } = useTexts();
  const [ways, setWays] = useState<SignInWays>();
  useEffect(() => {
    void readSignInWays().then(setWays);
  }, []);
  if (ways === undefined) return null;
  const { oidc, api_key: asksForKey } = ways;
  if (oidc === undefined) return <KeyForm {...props} />;
  return (
    <Stack>
      <Button component="a" href={accountSignInUrl(oidc)} {...(props.isOverPage === true && newTab)} fullWidth>
        {texts.withAccount(oidc.name)}
      </Button>
      {props.isOverPage === true && (
        <Text size="sm" c="dimmed">
          {texts.newTab}
        </Text>
      )}
      {asksForKey && (
        <>
          <Divider />
          <KeyForm {...props} isSecond />
        </>
      )}
    </Stack>
  );
}

/** Asks for an API key and creates a session with it. */
function KeyForm({
  onSignedIn,
  notice,
  isSecond = false,
}: SignInProps & {
  /** Whether there is a better way. */
  isSecond?: boolean;
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
          data-autofocus={!isSecond}
          autoFocus={!isSecond}
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
        <Button type="submit" variant={isSecond ? 'default' : 'filled'} loading={signIn.isPending} fullWidth>
          {texts.submit}
        </Button>
      </Stack>
    </form>
  );
}
