import manifest from '../../package.json' with { type: 'json' };

/** The flags for V8 that `npm start` runs the service with. */
export const startFlags: readonly string[] = manifest.scripts.start
  .split(' ')
  .filter((word) => word.startsWith('--max-'));
