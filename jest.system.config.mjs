import config, { reporters } from './jest.config.mjs';

/**
 * The tests that take longer. They start the service, its database or a browser as processes, upgrade data, install
 * the package, send generated requests, or repeat every write whose answer was lost.
 */
export default {
  ...config,
  reporters,
  testMatch: ['<rootDir>/test/**/*.system.test.ts'],
  testPathIgnorePatterns: [],
};
