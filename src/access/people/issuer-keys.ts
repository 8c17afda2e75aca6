import type * as jose from 'jose';
import type { Clock } from '../../base/runtime/clock.ts';
import { shareFor } from '../../base/runtime/share-for.ts';
import type { SignInRefusal } from './sign-in-refusal.ts';

export interface IssuerKeysOptions {
  /** Reads the set of keys (RFC 7517, section 5). */
  readonly read: () => Promise<unknown>;
  /** Makes the refusal of whoever needs keys that could not be read. */
  readonly away: (error: unknown) => SignInRefusal;
  readonly clock: Clock;
}

/** The keys of an issuer. */
export interface IssuerKeys {
  /** Reads the keys unless they are known. @throws {SignInRefusal} if they cannot be read */
  check(): Promise<void>;
  /**
   * Verifies the signature and the claims of a token.
   * @param refuse makes the refusal of a token that is not valid, from the error that `jose` throws
   * @throws {SignInRefusal} if the token is not valid, or if the keys cannot be read
   */
  verify(
    token: string,
    options: jose.JWTVerifyOptions,
    refuse: (error: jose.errors.JOSEError) => SignInRefusal,
  ): Promise<jose.JWTPayload>;
}

/** How long keys are used, in milliseconds. A key that an issuer has removed counts no longer than this. */
const keysMs = 5 * 60_000;
/** The least age of keys that are read again because of a signature, in milliseconds. Everybody can send a logout token with a wrong one. */
const againMs = 60_000;
/** The least time between two reads, in milliseconds, if they fail. */
const pauseMs = 5_000;

/** Keys that are read when they are first used, and once more for a signature that does not fit: they can have changed. */
export async function createIssuerKeys({ read, away, clock }: IssuerKeysOptions): Promise<IssuerKeys> {
  const { createLocalJWKSet, jwtVerify, errors } = await import('jose');
  interface Known {
    readonly get: ReturnType<typeof createLocalJWKSet>;
    readonly readAt: number;
  }
  let known: Known | undefined;
  const readKeys = async (): Promise<Known> => {
    try {
      known = { get: createLocalJWKSet((await read()) as jose.JSONWebKeySet), readAt: clock.monotonic() };
      return known;
    } catch (error) {
      throw away(error);
    }
  };
  const readShared = shareFor(pauseMs, clock, readKeys);
  /** @param unfit keys that a signature does not fit */
  const current = async (unfit?: Known): Promise<Known> => {
    const age = clock.monotonic() - (known?.readAt ?? -Infinity);
    const isTooOld = age >= (known === unfit ? againMs : keysMs);
    if (known === undefined || isTooOld) return await readShared();
    return known;
  };

  const verifyWith = async (
    { get }: Known,
    token: string,
    options: jose.JWTVerifyOptions,
  ): Promise<jose.JWTPayload> => {
    try {
      return (await jwtVerify(token, get, options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      // Without a `kid`, while the old key and the new one are published.
      for await (const key of error) {
        try {
          return (await jwtVerify(token, key, options)).payload;
        } catch (tried) {
          if (!(tried instanceof errors.JWSSignatureVerificationFailed)) throw tried;
        }
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  };
  const isUnfit = (error: unknown): boolean =>
    error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey;

  return {
    async check() {
      await current();
    },
    async verify(token, options, refuse) {
      const refusalOf = (error: unknown): SignInRefusal =>
        error instanceof errors.JOSEError && !(error instanceof errors.JWKSInvalid) ? refuse(error) : away(error);
      const first = await current();
      try {
        return await verifyWith(first, token, options);
      } catch (error) {
        const next = isUnfit(error) ? await current(first) : first;
        if (next === first) throw refusalOf(error);
        return await verifyWith(next, token, options).catch((again: unknown) => {
          throw refusalOf(again);
        });
      }
    },
  };
}
