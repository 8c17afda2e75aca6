/** Elements that had the focus, the last one at the end. Those of dialogs and menus disappear with them. */
const past: HTMLElement[] = [];
const kept = 20;
const passing = '[role="dialog"], [role="menu"], [role="listbox"]';

addEventListener('focusin', ({ target }) => {
  if (!(target instanceof HTMLElement) || target.closest(passing) !== null || target === past.at(-1)) return;
  past.push(target);
  past.splice(0, past.length - kept);
});

/**
 * Gives the focus back to the element that had it last, if a dialog that closes leaves it nowhere: what opened the
 * dialog can have been the entry of a menu, or a button that waited.
 */
export function returnFocus(): void {
  // The dialog itself gives it back 10 ms after it is gone.
  setTimeout(() => {
    if (document.activeElement !== document.body) return;
    past.findLast((element) => element.isConnected && !element.matches(':disabled'))?.focus({ preventScroll: true });
  }, 30);
}
