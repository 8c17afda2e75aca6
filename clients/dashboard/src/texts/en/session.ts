export const session = {
  title: 'Sign in',
  explanation: 'Sign in with an API key. You see and do what its scopes allow.',
  key: 'API key',
  keyDescription: 'The first start of the service prints a key. Others are created under “API keys”.',
  submit: 'Sign in',
  keyMissing: 'Enter an API key.',
  refused: 'This key is not valid. It is unknown, expired or revoked. Check that you copied all of it.',
  linkRefused: 'This sign-in link is no longer valid. It works once, within ten minutes. Sign in with an API key.',
  expiredTitle: 'Your session has ended',
  expired: 'Sign in again to continue. What you typed is still there.',
  signOutInstead: 'Leave and sign out',
  checking: 'Signing in',
};
