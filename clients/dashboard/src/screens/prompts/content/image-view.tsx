import { Anchor, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import { dataBytes, isLink, isShownImage, shortUrl } from './image-url.ts';
import classes from './image-view.module.css';

/** An image of a message. Only one that is in the message itself is shown; another is a link, which the page does not load. */
export function ImageView({ url, label }: { url: string; label: string }): ReactNode {
  const { prompts } = useTexts();
  const format = useFormat();
  if (isShownImage(url)) {
    return (
      <figure className={classes.figure}>
        <img className={classes.image} src={url} alt={label} />
        <figcaption className={classes.caption}>
          {url.slice('data:'.length, url.indexOf(';'))}, {format.bytes(dataBytes(url))}
        </figcaption>
      </figure>
    );
  }
  return (
    <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
      {isLink(url) ? (
        <Anchor href={url} target="_blank" rel="noopener noreferrer" inherit>
          {shortUrl(url)}
        </Anchor>
      ) : (
        shortUrl(url) || <em>{prompts.parts.noUrl}</em>
      )}
    </Text>
  );
}
