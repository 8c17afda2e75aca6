import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ReactNode, Ref } from 'react';

function ButtonAsLink({ ref, ...props }: ButtonProps & { ref?: Ref<HTMLAnchorElement> }): ReactNode {
  return <Button ref={ref} component="a" {...props} />;
}

function AnchorAsLink({
  ref,
  ...props
}: AnchorProps & { ref?: Ref<HTMLAnchorElement>; children?: ReactNode }): ReactNode {
  return <Anchor ref={ref} {...props} />;
}

/** A link to another screen that looks like a button. */
export const LinkButton = createLink(ButtonAsLink);

/** A link to another screen. */
export const TextLink = createLink(AnchorAsLink);
