import { decodeText } from 'prompt-gateway-client/transfer';

/** The text of a chosen file; undefined if it is not UTF-8. */
export async function readText(file: File): Promise<string | undefined> {
  return decodeText(new Uint8Array(await file.arrayBuffer()));
}
