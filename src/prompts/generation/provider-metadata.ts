import { isLongerAsJson } from '../../base/runtime/json-size.ts';

/** The largest `provider_metadata` of a call, in bytes of JSON text. */
const longestMetadata = 64 * 1024;

/** What is wrong with the `provider_metadata` that a caller sends back; undefined if nothing is. */
export function findMetadataMistake(metadata: object | undefined): string | undefined {
  if (metadata === undefined || !isLongerAsJson(metadata, longestMetadata)) return undefined;
  return `must have at most ${longestMetadata} bytes as JSON text`;
}
