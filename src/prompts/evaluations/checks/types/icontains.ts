import type { CheckType } from '../check-type.ts';
import { valueText } from '../check-type.ts';
import { contains } from './contains.ts';

/** Like `contains`; upper and lower case are the same. */
export const icontains: CheckType = {
  takes: 'text',
  find(input) {
    const { part, value } = input;
    return contains.find({
      ...input,
      part: { ...part, text: part.text.toLowerCase() },
      value: valueText(value).toLowerCase(),
    });
  },
};
