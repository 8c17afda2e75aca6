import DOMPurify, { type Config } from 'dompurify';
import { Marked } from 'marked';
import { useLayoutEffect, useRef, type ReactNode } from 'react';
import classes from './long-text.module.css';

/** What an answer can consist of. Images would ask other servers; they become links. */
const allowed = {
  ALLOWED_TAGS: [
    ...['p', 'br', 'hr', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'ul', 'ol', 'li', 'a'],
    ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ],
  ALLOWED_ATTR: ['href', 'title', 'start'],
  ALLOW_DATA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(https?|mailto):/i,
  RETURN_DOM_FRAGMENT: true,
} satisfies Config;

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // What looks like HTML is shown as it is. Headings are not those of the page.
    html: ({ text }) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
    heading({ tokens }) {
      return `<p><strong>${this.parser.parseInline(tokens)}</strong></p>`;
    },
    image({ href, title, text, raw }) {
      const token = { type: 'text', raw, text: text || href } as const;
      return this.link({ type: 'link', raw, href, title, text, tokens: [token] });
    },
  },
});

/** A text in Markdown as its author meant it. What is not plain formatting is left out. */
export function Markdown({ text, label }: { text: string; label: string }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const nodes = DOMPurify.sanitize(marked.parse(text, { async: false }), allowed);
    for (const link of nodes.querySelectorAll('a')) {
      link.target = '_blank';
      link.rel = 'noopener noreferrer';
    }
    box.current?.replaceChildren(nodes);
  }, [text]);
  return (
    <div ref={box} className={`${classes.box} ${classes.markdown}`} role="region" aria-label={label} tabIndex={0} />
  );
}
