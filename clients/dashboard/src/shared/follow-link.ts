import type { MouseEvent } from 'react';

/**
 * For clicks in a row that its first link covers. What has a tooltip lies above that link, so that the tooltip can be
 * reached; a click there follows the link as well, in a new tab if the keys say so.
 */
export function followLink({ target, currentTarget, ctrlKey, metaKey, shiftKey }: MouseEvent<HTMLElement>): void {
  if (!(target instanceof Element) || !currentTarget.contains(target)) return;
  if (target.closest('a, button, input') !== null || getSelection()?.isCollapsed === false) return;
  const keys = { ctrlKey, metaKey, shiftKey };
  currentTarget
    .querySelector('a')
    ?.dispatchEvent(new globalThis.MouseEvent('click', { bubbles: true, cancelable: true, ...keys }));
}
