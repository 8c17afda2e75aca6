/** What keys of this service, of vendors and of AWS begin with. */
const keyPrefixes = 'pgw_|sk-|xai-|gsk_|AIza|hf_|nvapi-|pplx-|whsec_|A[KS]IA[0-9A-Z*…]|ABSK';
/** The rest of such a key, also if it is shown in parts: `sk-…abcd`, `sk-proj-****abcd`. */
const keys = new RegExp(`\\b(${keyPrefixes})(?:[\\w*•…+/=-]|\\.{2,}){3,}`, 'g');

/** For example the name of a model. In these characters, a token can only be one with a known prefix. */
const harmless = new RegExp(`^(?!.*(?:${keyPrefixes}))[\\w./-]{1,100}$`);

/**
 * Removes text that looks like credentials: user info and parameters in URIs, bearer tokens, and keys with a known
 * prefix.
 */
export function scrub(text: string): string {
  if (harmless.test(text)) return text;
  return text
    .slice(0, 8_000)
    .replace(/(\b\w{1,30}:\/\/)[^/@\s]{1,500}@/g, '$1[redacted]@')
    .replace(/([?&][^=&\s]{0,60}(?:auth|key|pass|secret|sig|token)[^=&\s]{0,60}=)[^&\s'"]+/gi, '$1[redacted]')
    .replace(/\b(Bearer|Basic)\s+\S+/gi, '$1 [redacted]')
    .replace(keys, '$1[redacted]');
}
