import { JsonText } from '../base/runtime/json-text.ts';

/**
 * Server-Sent Events as text (WHATWG HTML, section 9.2).
 *
 * @param data any JSON value, or its text; a string is sent as it is and contains no line ends
 * @param name the event's type
 */
export function serverSentEvent(data: unknown, name?: string): string {
  const text = typeof data === 'string' ? data : data instanceof JsonText ? data.text : JSON.stringify(data);
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`;
}

/** A comment, which readers ignore. It keeps proxies from closing a connection that is silent. */
export const heartbeat = ': keep-alive\n\n';
