import type { DeclaredAnswer } from './declared-answers.ts';

/**
 * The reason why no test reaches a declared answer.
 *
 * @returns undefined if a test must reach it
 */
export function reasonNotReached({ operation, problem, takesBody }: DeclaredAnswer): string | undefined {
  switch (problem) {
    case 'too-much-in-progress':
      return takesBody ? undefined : 'Only bodies count; the answer is declared for all operations alike.';
    case 'overloaded':
      return takesBody
        ? undefined
        : 'One limit for all lists and one for all outboxes: list-queue.test.ts, announcements.test.ts.';
    case 'too-much-kept':
      return ['invokePrompt', 'createTestRun'].includes(operation)
        ? undefined
        : 'One limit for all stored answers: memory-budget.test.ts; the answer is declared for all operations alike.';
    case 'shutting-down':
      return 'Only getReadiness and createTestRun answer it, in the last moments of a process: test-run-crash.system.test.ts.';
    case 'interrupted':
      return 'Only in the last moments of a process: shutdown.system.test.ts.';
    case 'database-unavailable':
    case 'storage-full':
      if (operation === 'sendMcpMessage') return 'Only if the key cannot be read; the problem of a tool is a result.';
      return ['testProvider', 'countMessageTokens'].includes(operation)
        ? 'The tests call echo, which costs nothing and so needs no journal: database-away.test.ts.'
        : undefined;
    default:
      return undefined;
  }
}
