export const shell = {
  product: 'prompt-gateway',
  skipToContent: 'Skip to content',
  navigation: 'Main navigation',
  openNavigation: 'Open navigation',
  closeNavigation: 'Close navigation',
  groups: {
    gateway: 'Gateway',
    orders: 'Orders',
    webhooks: 'Webhooks',
    administration: 'Administration',
  },
  entries: {
    integrations: 'Integrations',
    deliveries: 'Deliveries',
    apiKeys: 'API keys',
  },
  reference: 'API reference',
  account: (name: string) => `Account: ${name}`,
  version: (version: string) => `Version ${version}`,
  colorScheme: 'Appearance',
  colorSchemes: { light: 'Light', dark: 'Dark', auto: 'System' },
  language: 'Language',
  signOut: 'Sign out',
  notFound: {
    title: 'Page not found',
    text: 'No page has this address. It may have been moved, or the link is incomplete.',
    action: 'Go to the start page',
  },
  failed: {
    title: 'This page cannot be shown',
    text: 'The page failed while it was being shown. Reload it; if this happens again, report it with the message below.',
    action: 'Reload',
  },
  nothingAllowed: {
    title: 'Nothing to show',
    text: 'Your API key has no scope that a page of this dashboard needs. Sign in with another key.',
  },
};
