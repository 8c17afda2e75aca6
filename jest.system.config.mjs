import config, { reporters } from './jest.config.mjs';

/** The tests that start the service, its database or a browser as processes, upgrade old data, or install the package. */
export default {
  ...config,
  reporters,
  testMatch: ['<rootDir>/test/**/*.system.test.ts'],
  testPathIgnorePatterns: [],
};
