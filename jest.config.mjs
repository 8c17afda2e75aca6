const cpuReporter = '<rootDir>/test/support/jest/cpu-reporter.ts';
export const reporters = ['default', ...(process.env['TEST_CPU'] === 'on' ? [cpuReporter] : [])];

/** Every test but those of the whole system (jest.system.config.mjs). */
export default {
  testEnvironment: 'node',
  testSequencer: '<rootDir>/test/support/jest/sequencer.mjs',
  testRunner: '<rootDir>/test/support/jest/native-runner.ts',
  // Node runs the TypeScript sources directly (erasable syntax).
  transform: {},
  reporters: ['<rootDir>/test/support/jest/contract-reporter.ts', ...reporters],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: [String.raw`\.system\.test\.ts$`],
  // No test is about this limit: it only ends what hangs, also on a machine that is busy with much else.
  testTimeout: 180_000,
  // Many tests wait for time-outs, outages and restarts, so more of them than cores can run side by side.
  maxWorkers: 4,
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};
