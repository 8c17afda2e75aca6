import { useEffect, useEffectEvent } from 'react';

/** What the keys of one character do. */
export interface KeyActions {
  readonly search: () => void;
  readonly help: () => void;
  /** @param key typed after `g` */
  readonly goTo: (key: string) => void;
}

/** Where the choice is kept not to have these keys: people who speak what they type need that (WCAG 2.2, 2.1.4). */
const storageKey = 'prompt-gateway-keys';
/** Milliseconds for the key after `g`. */
const patience = 1_500;
/** Characters have their own meaning there. */
const typing =
  'input, textarea, select, [contenteditable="true"], [role="dialog"], [role="menu"], [role="listbox"], [role="tree"]';

/** Whether the keys of one character work. */
export function areKeysOn(): boolean {
  return localStorage.getItem(storageKey) !== 'off';
}

/** Switches the keys of one character on or off, in this browser. */
export function setKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, 'off');
}

/** `/` searches, `?` shows the keys, `g` and another goes to a page, `j` and `k` move through the rows of a list. */
export function useKeys(actions: KeyActions): void {
  const act = useEffectEvent((key: string, isAfterG: boolean): boolean => {
    if (isAfterG) actions.goTo(key);
    else if (key === '/') actions.search();
    else if (key === '?') actions.help();
    else if (key === 'j') moveInList(1);
    else if (key === 'k') moveInList(-1);
    else return false;
    return true;
  });
  useEffect(() => {
    let typedG = -Infinity;
    const press = (event: KeyboardEvent): void => {
      const { key, target, timeStamp } = event;
      const isCommand = event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented;
      if (isCommand || key.length > 1 || !areKeysOn() || isTyping(target)) return;
      const isAfterG = timeStamp - typedG < patience;
      typedG = key === 'g' && !isAfterG ? timeStamp : -Infinity;
      if (act(key, isAfterG)) event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => {
      removeEventListener('keydown', press);
    };
  }, []);
}

/** The page below a dialog does not get its keys. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    (target.closest(typing) !== null || document.querySelector('[aria-modal="true"]') !== null)
  );
}

/** Gives the focus to the link of the next row, or to what else it begins with; Enter follows it. */
function moveInList(step: 1 | -1): void {
  const rows = [...document.querySelectorAll('main tbody tr[data-index]')].filter((row) => beginningOf(row) !== null);
  const now = rows.findIndex((row) => row.contains(document.activeElement));
  const next = now === -1 ? (step === 1 ? 0 : rows.length - 1) : Math.min(Math.max(now + step, 0), rows.length - 1);
  const row = rows[next];
  if (row !== undefined) beginningOf(row)?.focus();
}

function beginningOf(row: Element): HTMLElement | null {
  return row.querySelector<HTMLElement>('a, button');
}
