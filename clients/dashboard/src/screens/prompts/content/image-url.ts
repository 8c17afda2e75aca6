/** A `data` URL with one of the kinds of images that the service accepts. */
const shownImage = /^data:image\/(?:(?:x-)?png|p?jpeg|jpg|gif|webp);base64,[a-z0-9+/]+={0,2}$/i;
const link = /^https:\/\/[^\s/?#\\@]+(?:[/?#][^\s\\]*)?$/i;

/** The kinds of images that the service accepts, for a file dialog. */
export const imageTypes = 'image/png,image/jpeg,image/gif,image/webp';

/** The largest file that becomes a part of a message, in bytes. A stored prompt has at most 1 MiB. */
export const largestImage = 512 * 1024;

/** Whether the page shows the image itself. Images at other addresses are not loaded. */
export function isShownImage(url: string): boolean {
  return shownImage.test(url);
}

/** Whether the address can be a link: `https`, and without placeholders. */
export function isLink(url: string): boolean {
  return link.test(url) && !url.includes('{{');
}

/** An address that is short enough to be read. Of a longer one its beginning, its end and its length are left. */
export function shortUrl(url: string): string {
  return url.length <= 200 ? url : `${url.slice(0, 40)}…${url.slice(-24)} (${url.length})`;
}

/** Bytes of the data in a `data` URL in base64. */
export function dataBytes(url: string): number {
  const data = url.slice(url.indexOf(',') + 1);
  return Math.floor((data.replace(/=+$/, '').length * 3) / 4);
}

/** The file as a `data` URL, or why it is none: `type` or `size`. */
export async function readImage(file: File): Promise<{ readonly url: string } | { readonly mistake: 'type' | 'size' }> {
  if (!imageTypes.split(',').includes(file.type)) return { mistake: 'type' };
  if (file.size > largestImage) return { mistake: 'size' };
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      resolve({ url: String(reader.result) });
    };
    reader.onerror = () => {
      reject(reader.error ?? new Error('The file cannot be read.'));
    };
    reader.readAsDataURL(file);
  });
}
