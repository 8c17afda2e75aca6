import type { LanguageModelV4StreamPart, LanguageModelV4ToolCall, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { AttemptEnd, GenerateEvent, ToolCall, Usage } from '../language-model.ts';
import { argumentsOf } from '../transport/tool-arguments.ts';
import { toStreamFailure, type FailureContext } from './classify.ts';
import { incompleteAnswer, tooLarge, type Failure } from './failures.ts';
import type { ToolCallReader } from './tool-calls.ts';
import { toFinishReason, type MentionedUsage } from './usage.ts';

/** The longest answer, in bytes of text, reasoning and arguments; like that of a whole answer. */
const mostBytes = 4 * 1024 * 1024;

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

export class StreamedAnswer {
  readonly #reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>;
  readonly #toolCallReader: ToolCallReader;
  readonly #usage: MentionedUsage;
  readonly #upstream: AbortController;
  readonly #leave: () => void;
  readonly #context: () => FailureContext;
  #ready: GenerateEvent[] = [];
  #text = '';
  readonly #toolCalls: ToolCall[] = [];
  /**
   * Calls that are given when something else follows. When a stream breaks off, some packages report the beginning of a
   * call as a whole call before they report the end.
   */
  #held: ToolCall[] = [];
  readonly #reasoning = new Map<string, { text: string; metadata: SharedV4ProviderMetadata }>();
  /** The calls whose arguments came in pieces. */
  readonly #piecemeal = new Set<string>();
  #bytes = 0;
  #isFinished = false;
  #isClosed = false;
  #reason: Failure | undefined;
  #named: AttemptEnd['answer'];

  constructor(
    parts: ReadableStream<LanguageModelV4StreamPart>,
    toolCallReader: ToolCallReader,
    usage: MentionedUsage,
    upstream: AbortController,
    leave: () => void,
    context: () => FailureContext,
  ) {
    this.#reader = parts.getReader();
    this.#toolCallReader = toolCallReader;
    this.#usage = usage;
    this.#upstream = upstream;
    this.#leave = leave;
    this.#context = context;
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
    this.#leave();
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
      this.#leave();
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
        this.#release();
        this.#usage.note(part.rawValue);
        return;
      case 'response-metadata':
        this.#named = part;
        return;
      case 'text-delta': {
        if (part.delta === '') return;
        // Some formats of JSON are calls of a tool, whose arguments are the text.
        const delta = argumentsOf(part.delta);
        this.#count(delta);
        this.#release();
        this.#text += delta;
        this.#ready.push({ type: 'text', delta });
        return;
      }
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        this.#think(part.id, part.type === 'reasoning-delta' ? part.delta : '', part.providerMetadata);
        if (part.type === 'reasoning-end') this.#concludeReasoning(part.id);
        return;
      case 'tool-input-delta':
        this.#piecemeal.add(part.id);
        this.#count(part.delta);
        return;
      case 'tool-call':
        this.#hold(part);
        return;
      case 'error':
        throw this.#error(toStreamFailure(part.error, this.#context()));
      case 'finish': {
        const { finishReason, usage } = part;
        // Without the format's own end the packages have no reason of the provider.
        if (finishReason.raw === undefined) throw this.#error(incompleteAnswer());
        this.#release();
        this.#isFinished = true;
        const result = {
          text: this.#text,
          finishReason: toFinishReason(finishReason),
          usage: this.#usage.complete(usage),
          ...(this.#toolCalls.length > 0 && { toolCalls: this.#toolCalls }),
        };
        this.#ready.push({ type: 'finish', result });
        return;
      }
      default:
        return;
    }
  }

  #think(id: string, delta: string, metadata: SharedV4ProviderMetadata = {}): void {
    this.#count(delta);
    const thought = this.#reasoning.get(id) ?? { text: '', metadata: {} };
    thought.text += delta;
    for (const [name, members] of Object.entries(metadata)) {
      this.#count(JSON.stringify(members));
      thought.metadata[name] = { ...thought.metadata[name], ...members };
    }
    this.#reasoning.set(id, thought);
  }

  #concludeReasoning(id: string): void {
    const thought = this.#reasoning.get(id);
    if (thought) this.#toolCallReader.addReasoning(thought.text, thought.metadata);
    this.#reasoning.delete(id);
  }

  #hold(part: LanguageModelV4ToolCall): void {
    if (!this.#piecemeal.delete(part.toolCallId)) this.#count(part.input);
    for (const id of this.#reasoning.keys()) this.#concludeReasoning(id);
    const toolCall = this.#toolCallReader.read(part);
    if (toolCall.provider_metadata) this.#count(JSON.stringify(toolCall.provider_metadata));
    this.#held.push(toolCall);
  }

  #release(): void {
    for (const toolCall of this.#held) this.#ready.push({ type: 'tool-call', toolCall });
    this.#toolCalls.push(...this.#held);
    this.#held = [];
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
