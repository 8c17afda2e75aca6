/** An event as it was received. */
export interface ReceivedEvent {
  /** `message` if the stream names none. */
  readonly name: string;
  readonly data: string;
}

/** The whole events of a stream, in their order. Comments and an event that is cut are left out. */
export function readEvents(text: string): ReceivedEvent[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block) => {
      const fields = block.split('\n').map((line) => /^(\w*): ?(.*)$/s.exec(line) ?? []);
      const valuesOf = (field: string): string[] =>
        fields.flatMap(([, name, value = '']) => (name === field ? [value] : []));
      const data = valuesOf('data');
      return data.length === 0 ? [] : [{ name: valuesOf('event')[0] ?? 'message', data: data.join('\n') }];
    });
}
