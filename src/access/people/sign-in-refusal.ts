import { messageOf } from '../../base/runtime/system-error.ts';

/** Why nobody was signed in, in words for a page. They contain no secret, and nothing that a caller chose. */
export class SignInRefusal extends Error {
  readonly status: 400 | 403 | 502 | 503;
  readonly title: string;
  /** For the log: what the library or the network said, without what it said it about. */
  readonly reason: string | undefined;
  /**
   * Whether it counts against the address that sent the request, as a refused API key does. Not what any other page can
   * let a browser send.
   */
  isCounted = false;
  /** Of somebody whom the issuer has confirmed, for the audit log. */
  readonly recordedAs: 'disabled' | 'no-role' | 'too-many-groups' | 'groups-not-understood' | undefined;

  constructor(
    status: SignInRefusal['status'],
    title: string,
    text: string,
    reason?: string,
    recordedAs?: SignInRefusal['recordedAs'],
  ) {
    super(text);
    this.name = 'SignInRefusal';
    this.status = status;
    this.title = title;
    this.reason = reason;
    this.recordedAs = recordedAs;
  }
}

/** @param what calls the issuer, as the page does */
export function issuerAway(what: string, reason: string): SignInRefusal {
  return new SignInRefusal(
    503,
    'Sign-in is not available',
    `${what} does not answer at the moment. Who is signed in stays signed in. Try again later, or use an API key.`,
    reason,
  );
}

/**
 * @param setting what the operator calls the issuer
 * @param said what it calls itself, which is no part of the page: it can be anything
 */
export function issuerMisnamed(what: string, setting: string, said: string): SignInRefusal {
  const other = setting.endsWith('/') ? setting.slice(0, -1) : `${setting}/`;
  const [title, reason] = ['Sign-in is not available', 'OIDC_ISSUER is not what the issuer calls itself'];
  return said === other
    ? new SignInRefusal(
        503,
        title,
        `OIDC_ISSUER differs from what ${what} calls itself, only by the slash at its end. Ask the operator to set OIDC_ISSUER=${other}`,
        `${reason}: they differ by the slash at the end`,
      )
    : new SignInRefusal(
        503,
        title,
        `OIDC_ISSUER is not what ${what} calls itself. Ask the operator to correct it.`,
        reason,
      );
}

/** @param difference how far the clock of this service is ahead of that of the issuer, in milliseconds */
export function clockOff(what: string, difference: number): SignInRefusal {
  const seconds = Math.round(Math.abs(difference) / 1_000);
  const direction = difference > 0 ? 'ahead of' : 'behind';
  return new SignInRefusal(
    502,
    'A clock is wrong',
    `The clock of this service is ${seconds} seconds ${direction} the clock of ${what}. At most 60 seconds are accepted. Ask the operator to correct it.`,
    `clocks differ by ${seconds} seconds`,
  );
}

/**
 * Why there is no answer of the issuer, for the log: messages of the library and of the network. A `cause` that is no error
 * can contain tokens.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof SignInRefusal) return error.reason ?? error.message;
  const messages: string[] = [];
  for (let of = error; of instanceof Error && messages.length < 5; of = of.cause) messages.push(of.message);
  return (messages.length === 0 ? messageOf(error) : messages.join(': ')).slice(0, 500);
}
