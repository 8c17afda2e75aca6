import type { Author } from '../../../access/audit/author.ts';
import type { InvocationContent, KeptContents } from '../../../accounting/invocations/kept-contents.ts';
import { ProblemError, type ProblemDetail } from '../../../base/errors/problem-error.ts';
import type { CaseKeys } from './case-key-store.ts';
import type { CaseInput } from './dataset.ts';
import { mostErrors, refused } from './problems.ts';

/** An invocation to make a case of, and its place in the request. */
export interface NamedInvocation {
  readonly id: string;
  /** Without `#`. */
  readonly pointer: string;
}

/**
 * Makes cases of what was asked in invocations, in their order. What was answered is left out: nobody has said that it is
 * right. Each invocation has a record in the audit log before anything of it is returned.
 * @throws {ProblemError} dataset-refused, which names those that no case can be made of; secret-unreadable
 */
export type ReadCases = (invocations: readonly NamedInvocation[], by: Author) => Promise<CaseInput[]>;

type Message = InvocationContent['messages'][number];
type CaseMessage = NonNullable<CaseInput['messages']>[number];
type CasePart = Exclude<NonNullable<CaseMessage['content']>, string>[number];

/** The contract has the same number. */
const mostMessages = 1_000;

export function createReadCases(kept: KeptContents, keys: Pick<CaseKeys, 'make'>): ReadCases {
  return async (invocations, by) => {
    const errors: ProblemDetail[] = [];
    /** @returns undefined after a mistake */
    const attempt = async <Result>({ pointer }: NamedInvocation, work: () => Promise<Result>) => {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof ProblemError) || error.status !== 404) throw error;
        const what = error.type === 'invocation-not-found' ? 'record in the invocation log' : 'content that is kept';
        errors.push({ detail: `has no ${what}`, pointer: `#${pointer}` });
        return undefined;
      }
    };
    const found: { readonly named: NamedInvocation; readonly hasPrompt: boolean }[] = [];
    for (const named of invocations) {
      const record = await attempt(named, () => kept.find(named.id, by.principal.reach));
      if (record?.operation === 'embedding')
        errors.push({ detail: 'asked for vectors, and not for an answer', pointer: `#${named.pointer}` });
      else if (record !== undefined) found.push({ named, hasPrompt: record.prompt_id !== undefined });
    }
    // Before the contents: who erases one afterwards finds the key, and erases it too.
    await keys.make(found.map(({ named }) => named.id));
    const cases: CaseInput[] = [];
    for (const { named, hasPrompt } of found) {
      const content = await attempt(named, () => kept.read(named.id));
      if (content === undefined) continue;
      const made = toCase(named.id, content, hasPrompt);
      if (typeof made === 'string') errors.push({ detail: made, pointer: `#${named.pointer}` });
      else cases.push(made);
    }
    if (errors.length > 0) throw refused('The cases cannot be added.', errors.slice(0, mostErrors));
    await kept.recordAccess(
      invocations.map(({ id }) => id),
      by,
    );
    return cases;
  };
}

/** @returns why there is none, as text */
function toCase(id: string, content: InvocationContent, hasPrompt: boolean): CaseInput | string {
  const { messages: sent, variables, prompt_messages: ofPrompt = hasPrompt ? undefined : 0 } = content;
  if (content.truncated === true) return 'has content that is too long, so only a part of it is kept';
  if (ofPrompt === undefined)
    return 'was recorded by an earlier release, which did not keep which messages are those of the caller';
  const messages = sent.slice(ofPrompt);
  if (messages.length > mostMessages) return `has more than the ${mostMessages} messages of a case`;
  if (messages.some((message) => message.content.some(hasLostImage))) return 'has an image whose data is not kept';
  return {
    ...{ id, invocation_id: id },
    ...(variables !== undefined && { variables }),
    ...(messages.length > 0 && { messages: messages.map(toMessage) }),
  };
}

/** Of the data of an image, its type and length are kept. */
function hasLostImage({ type, url = '' }: Message['content'][number]): boolean {
  return type === 'image' && !/^https:/i.test(url);
}

/** The answer before, without thinking: what its provider needs to take that back is not kept. */
function toMessage({ role, content, tool_call_id, is_error }: Message): CaseMessage {
  const parts = content.filter(({ type }) => type !== 'thinking');
  const [first] = parts;
  const text = parts.length === 0 ? '' : parts.length === 1 && first?.type === 'text' ? first.text : undefined;
  return {
    role: role as CaseMessage['role'],
    content: text ?? (parts as CasePart[]),
    ...(tool_call_id !== undefined && { tool_call_id }),
    ...(is_error !== undefined && { is_error }),
  };
}
