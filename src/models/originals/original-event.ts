/** An event of a stream, as the provider sent it. */
export class OriginalEvent {
  readonly name: string;
  /** JSON in the text of the provider. */
  readonly data: string;
  /** What it says. */
  readonly value: Readonly<Record<string, unknown>>;

  constructor(name: string, data: string, value: Readonly<Record<string, unknown>>) {
    this.name = name;
    this.data = data;
    this.value = value;
  }
}
