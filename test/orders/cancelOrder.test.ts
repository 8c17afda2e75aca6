import { describeEnding } from './ending-harness.ts';

describeEnding('cancel');
