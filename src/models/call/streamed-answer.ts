import type { LanguageModelV4StreamPart, LanguageModelV4ToolCall, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import {
  hasArgumentObject,
  isCut,
  thinkingEvents,
  type AnswerForm,
  type AttemptEnd,
  type GenerateEvent,
  type GenerateResult,
  type ToolCallPart,
  type Usage,
} from '../language-model.ts';
import { OriginalEvent } from '../originals/original-answers.ts';
import { argumentsOf } from '../transport/tool-arguments.ts';
import type { AnswerContent, GrowingThinking } from './parts.ts';
import { toAnswerFailure, toStreamFailure, type FailureContext } from './classify.ts';
import { incompleteAnswer, tooLarge, unfitCall, type Failure } from './failures.ts';
import type { Turn } from './retries.ts';
import { AnswerSigns } from './signs.ts';
import type { MentionedUsage } from './usage.ts';
import { verdictOf } from './verdict.ts';

/** The longest answer, in bytes of text, reasoning and arguments; like that of a whole answer. */
const mostBytes = 4 * 1024 * 1024;

/** The most bytes of the events of an answer that are passed on as they came: each piece of a few letters is an event. */
const mostOriginalBytes = 64 * 1024 * 1024;

/** How long the provider has to end its response after the format's own end, in milliseconds. */
const endingMs = 1_000;

/** Ends an answer. */
export class AnswerError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.detail);
    this.name = 'AnswerError';
    this.failure = failure;
  }
}

/** How a stream is wanted. */
export type StreamForm = Pick<AnswerForm, 'showsThinking' | 'needsArgumentObjects'>;

/** Thinking that can grow. */
interface Thought {
  part: GrowingThinking | undefined;
  /** Whether its end was given. */
  isTold: boolean;
}

export class StreamedAnswer {
  readonly #reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>;
  readonly #content: AnswerContent;
  readonly #usage: MentionedUsage;
  readonly #signs = new AnswerSigns();
  readonly #upstream: AbortController;
  readonly #turn: Pick<Turn, 'leave' | 'check'>;
  readonly #context: () => FailureContext;
  readonly #form: StreamForm;
  #ready: GenerateEvent[] = [];
  /** Thinking that is given together with what follows it. */
  readonly #thoughts: GenerateEvent[] = [];
  /**
   * Calls that are given when something else follows. When a stream breaks off, some packages report the beginning of a
   * call as a whole call before they report the end.
   */
  #held: ToolCallPart[] = [];
  /** What has not ended, by the ids of the package. */
  readonly #thinking = new Map<string, Thought>();
  /** The calls whose arguments came in pieces. */
  readonly #piecemeal = new Set<string>();
  #bytes = 0;
  /** Events as they came that are not given yet. */
  readonly #originals: GenerateEvent[] = [];
  #originalBytes = 0;
  #hasBegun = false;
  #isFinished = false;
  #isClosed = false;
  #reason: Failure | undefined;
  #named: AttemptEnd['answer'];

  constructor(
    parts: ReadableStream<LanguageModelV4StreamPart>,
    content: AnswerContent,
    usage: MentionedUsage,
    upstream: AbortController,
    turn: Pick<Turn, 'leave' | 'check'>,
    context: () => FailureContext,
    form: StreamForm,
  ) {
    this.#reader = parts.getReader();
    this.#content = content;
    this.#usage = usage;
    this.#upstream = upstream;
    this.#turn = turn;
    this.#context = context;
    this.#form = form;
  }

  /** The tokens that the provider has mentioned. */
  get usage(): Usage | undefined {
    return this.#usage.usage;
  }

  /** What the provider calls its answer, if it has said so. */
  get named(): AttemptEnd['answer'] {
    return this.#named;
  }

  /** Of text, reasoning and arguments that have come. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws AnswerError */
  async next(): Promise<GenerateEvent> {
    for (;;) {
      const event = this.#ready.shift();
      if (event?.type === 'finish') return { ...event, result: await this.#checked(event.result) };
      if (event !== undefined) return event;
      if (this.#reason) throw this.#error(this.#reason);
      const part = await this.#read();
      if (part === undefined) throw this.#error(this.#reason ?? incompleteAnswer());
      try {
        this.#take(part);
      } catch (error) {
        throw error instanceof AnswerError ? error : this.#error(toStreamFailure(error, this.#context()));
      }
    }
  }

  /** Ends the call to the provider. @param reason what `next` throws from then on */
  close(reason?: Failure): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#reason = reason;
    if (this.#isFinished) {
      void this.#drain();
      return;
    }
    this.#upstream.abort();
    this.#reader.cancel().catch(() => {});
    this.#turn.leave();
  }

  async #checked(said: GenerateResult): Promise<GenerateResult> {
    const checked = await this.#turn.check(said);
    if ('failure' in checked) throw new AnswerError(checked.failure);
    return checked.result;
  }

  /** Lets the connection be used again: the response usually ends right after the format's own end. */
  async #drain(): Promise<void> {
    const timer = setTimeout(() => {
      this.#upstream.abort();
    }, endingMs);
    try {
      while (!(await this.#reader.read()).done);
    } catch {
      // The answer was complete before.
    } finally {
      clearTimeout(timer);
      this.#turn.leave();
    }
  }

  async #read(): Promise<LanguageModelV4StreamPart | undefined> {
    try {
      const { value } = await this.#reader.read();
      return value;
    } catch (error) {
      throw this.#error(this.#reason ?? toStreamFailure(error, this.#context()));
    }
  }

  #take(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'raw':
        this.#release('waits');
        if (part.rawValue instanceof OriginalEvent) this.#passOn(part.rawValue);
        else {
          this.#usage.note(part.rawValue);
          this.#refuse(this.#signs.note(part.rawValue));
        }
        return;
      case 'response-metadata':
        this.#named = part;
        return;
      case 'text-delta': {
        if (part.delta === '' || this.#signs.isRefusal(part.delta)) return;
        // Some formats of JSON are calls of a tool, whose arguments are the text.
        const delta = argumentsOf(part.delta);
        this.#count(delta);
        this.#release();
        this.#tellThoughts();
        this.#content.addText(delta);
        this.#give({ type: 'text', delta });
        return;
      }
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        this.#think(part.id, part.type === 'reasoning-delta' ? part.delta : '', part.providerMetadata);
        if (part.type === 'reasoning-end') this.#endThought(part.id);
        return;
      case 'tool-input-delta':
        this.#piecemeal.add(part.id);
        this.#count(part.delta);
        return;
      case 'tool-call':
        this.#hold(part);
        return;
      case 'error':
        if (this.#signs.isOfOtherEvent(part.error)) return;
        throw this.#error(toStreamFailure(part.error, this.#context()));
      case 'finish': {
        this.#finish(part);
        return;
      }
      default:
        return;
    }
  }

  #finish({ finishReason: reason, usage: read }: Extract<LanguageModelV4StreamPart, { type: 'finish' }>): void {
    const call = this.#signs.callIn([...this.#content.parts, ...this.#held], this.#named?.id);
    if (call !== undefined) this.#hold(call);
    const { error, refusal } = this.#signs;
    const finishReason = verdictOf([...this.#content.parts, ...this.#held], reason, this.#signs);
    const usage = this.#usage.complete(read);
    if (finishReason === 'error') throw this.#error(toAnswerFailure(error, usage, this.#context()));
    // Without the format's own end the packages have no reason of the provider.
    if (reason.raw === undefined) throw this.#error(incompleteAnswer());
    const result = {
      content: this.#content.parts,
      finishReason,
      ...(refusal !== undefined && { refusal }),
      usage,
    };
    this.#release(isCut(result) || refusal !== undefined ? 'left out' : 'given');
    for (const id of this.#thinking.keys()) this.#endThought(id);
    this.#isFinished = true;
    this.#give({ type: 'finish', result });
  }

  #refuse(delta: string): void {
    if (delta === '') return;
    this.#count(delta);
    this.#release();
    this.#tellThoughts();
    this.#give({ type: 'refusal', delta });
  }

  /** An answer begins with its first content. What comes before, such as its head, is given together with this. */
  #passOn({ fields: { name, data, value, added, isContent } }: OriginalEvent): void {
    this.#usage.note(value);
    this.#originalBytes += Buffer.byteLength(data);
    if (this.#originalBytes > mostOriginalBytes) throw this.#error(tooLarge());
    this.#originals.push({ type: 'original', name, data, ...(added && { added }) });
    if (isContent) this.#hasBegun = true;
    if (this.#hasBegun) this.#ready.push(...this.#originals.splice(0));
  }

  #think(id: string, delta: string, metadata: SharedV4ProviderMetadata | undefined): void {
    this.#count(delta);
    if (metadata) this.#count(JSON.stringify(metadata));
    let thought = this.#thinking.get(id);
    if (thought === undefined || (thought.isTold && delta !== '')) {
      thought = { part: undefined, isTold: false };
      this.#thinking.set(id, thought);
    }
    if (thought.part === undefined) this.#release();
    thought.part = this.#content.think(thought.part, delta, metadata);
    if (this.#form.showsThinking && delta !== '') this.#ready.push({ type: 'thinking', delta });
  }

  /** Some packages report the end only after what follows it. */
  #endThought(id: string): void {
    const thought = this.#thinking.get(id);
    this.#thinking.delete(id);
    if (thought) this.#tell(thought);
  }

  /** Gives all thinking before something else follows it. */
  #tellThoughts(): void {
    if (this.#thinking.size > 0) for (const thought of this.#thinking.values()) this.#tell(thought);
  }

  #tell(thought: Thought): void {
    if (thought.part === undefined || thought.isTold) return;
    thought.isTold = true;
    const [...events] = thinkingEvents(thought.part);
    // The text was given before.
    if (this.#form.showsThinking) this.#ready.push(...events.slice(-1));
    else this.#thoughts.push(...events);
  }

  #hold(part: LanguageModelV4ToolCall): void {
    if (!this.#piecemeal.delete(part.toolCallId)) this.#count(part.input);
    this.#tellThoughts();
    const call = this.#content.readCall(part);
    if (call.provider_metadata) this.#count(JSON.stringify(call.provider_metadata));
    this.#held.push(call);
  }

  /** @param broken what becomes of the last call if its caller cannot use it: the answer may have been cut in it */
  #release(broken: 'given' | 'waits' | 'left out' = 'given'): void {
    if (this.#held.length === 0) return;
    const held = this.#held;
    this.#held = [];
    for (const call of held) {
      const isBroken = this.#form.needsArgumentObjects && !hasArgumentObject(call);
      if (isBroken && broken !== 'given' && call === held.at(-1)) {
        if (broken === 'waits') this.#held = [call];
        return;
      }
      if (isBroken) throw this.#error(unfitCall());
      this.#content.addCall(call);
      this.#give(call);
    }
  }

  #give(event: GenerateEvent): void {
    if (this.#thoughts.length > 0) this.#ready.push(...this.#thoughts.splice(0));
    this.#ready.push(event);
  }

  #count(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > mostBytes) throw this.#error(tooLarge());
  }

  /** What the provider generated it may charge for, so such a call is not repeated. */
  #error(failure: Failure): AnswerError {
    const mayBeBilled = failure.mayBeBilled || this.#bytes > 0;
    return new AnswerError({ ...failure, mayBeBilled, usage: this.usage ?? failure.usage });
  }
}
