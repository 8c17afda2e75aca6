/** Which images a message may have. The service never opens an image; the provider does. */
import { createAddressRule } from '../base/outbound/address-rules.ts';
import type { Message } from './language-model.ts';

export interface ImageMistake extends Pick<PlacedImage, 'member'> {
  /** One sentence. It does not contain the address. */
  readonly detail: string;
}

export interface PlacedImage {
  readonly message: Message;
  readonly url: string;
  /** Where it is: `messages/3/content/0`. */
  readonly member: string;
}

/** The images of messages, in their order. */
export function imagesIn(messages: readonly Message[]): PlacedImage[] {
  return messages.flatMap((message, index) =>
    typeof message.content === 'string'
      ? []
      : message.content.flatMap((part, position) =>
          part.type === 'image' ? [{ message, url: part.url, member: `messages/${index}/content/${position}` }] : [],
        ),
  );
}

/** The most images of a request. Each costs time in the packages, and no provider takes as many. */
const mostImages = 1_000;

/** The most characters of an image's address; parsing one of megabytes stops the process for a twentieth of a second. */
const longestAddress = 65_536;

/** Finds the images that are neither at a public https address nor data of a usual format, and the first too many. */
export function findImageMistakes(messages: readonly Message[]): ImageMistake[] {
  const images = imagesIn(messages);
  const [excess] = images.slice(mostImages);
  if (excess !== undefined) {
    return [{ member: excess.member, detail: `A request can have at most ${mostImages} images.` }];
  }
  return images.flatMap(({ url, member }) => {
    const detail = findImageMistake(url);
    return detail === undefined ? [] : [{ member, detail }];
  });
}

/** @returns One sentence; undefined if the image is allowed */
function findImageMistake(url: string): string | undefined {
  if (/^\s*data:/i.test(url)) {
    return isImageData(url)
      ? undefined
      : 'A data URL must be `data:image/png;base64,…`, also with `jpeg`, `gif` or `webp`.';
  }
  if (url.length > longestAddress) return `The address of an image can have at most ${longestAddress} characters.`;
  if (!URL.canParse(url)) return 'The image must be a complete https URL or a data URL.';
  const { protocol, username, password, hostname } = new URL(url);
  if (protocol !== 'https:') return 'The image must be an https URL or a data URL.';
  if (username !== '' || password !== '') return 'The address of an image must not contain a user name or password.';
  return isPublicHost(hostname) ? undefined : 'The address of an image must be on a public host.';
}

function isImageData(url: string): boolean {
  const base64 = readImageData(url)?.base64;
  if (base64 === undefined) return false;
  const digits = base64.length - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
  for (let start = 0; start < digits; start += scratch.length) {
    if (!isBase64(base64.slice(start, Math.min(start + scratch.length, digits)))) return false;
  }
  return digits > 0;
}

const scratch = Buffer.allocUnsafeSlow(64 * 1024);

/** Whether the text has only the digits of base64. Decoding leaves others out, and is 40 times as fast as a pattern. */
function isBase64(text: string): boolean {
  return (
    // A single digit is left out, too.
    text.length % 4 !== 1 &&
    scratch.write(text, 'base64') === Math.floor((text.length * 3) / 4) &&
    // What else Node decodes: the digits of base64url, and characters beyond Latin-1 by their lower byte.
    !text.includes('-') &&
    !text.includes('_') &&
    Buffer.byteLength(text) === text.length
  );
}

/**
 * The parts of a data URL with an image; undefined for any other text. The digits are not checked, which takes long for
 * many megabytes: `findImageMistakes` has done it.
 */
export function readImageData(url: string): { mediaType: string; base64: string } | undefined {
  const [head, written = ''] = /^data:image\/([a-z-]{1,10});base64,/i.exec(url) ?? [];
  const mediaType = mediaTypes.get(written.toLowerCase());
  if (head === undefined || mediaType === undefined) return undefined;
  return { mediaType, base64: url.slice(head.length) };
}

/** Media types as people write them; providers take only the registered ones. */
const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['x-png', 'image/png'],
  ['jpeg', 'image/jpeg'],
  ['jpg', 'image/jpeg'],
  ['pjpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
]);

/** Whether the address of an image has its data. */
export function isDataUrl(url: string): boolean {
  return /^data:/i.test(url);
}

const isPublicAddress = createAddressRule([]);

/** Names that only a local network or machine knows. */
const localName =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|svc|test|invalid|home\.arpa)$/;

/** @param hostname As the URL parser writes it: lower case, IPv4 addresses as four decimal numbers. */
function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/\.+$/, '');
  if (host.startsWith('[')) return isPublicAddress(host.slice(1, -1));
  if (/^[\d.]+$/.test(host)) return isPublicAddress(host);
  return host.includes('.') && !localName.test(host);
}
