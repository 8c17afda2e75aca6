import { describeEnding } from './ending-harness.ts';

describeEnding('complete');
