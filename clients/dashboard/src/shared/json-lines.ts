/**
 * Reads JSON Lines as they arrive, until `take` returns false. The rest is not read, and its transfer ends.
 * @throws SyntaxError if a line is not JSON
 */
export async function readLines<Line>(body: ReadableStream<Uint8Array>, take: (line: Line) => boolean): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += decoder.decode(value, { stream: !done });
      const lines = rest.split('\n');
      rest = done ? '' : (lines.pop() ?? '');
      for (const line of lines) {
        if (line.trim() !== '' && !take(JSON.parse(line) as Line)) return;
      }
      if (done) return;
    }
  } finally {
    await reader.cancel();
  }
}
