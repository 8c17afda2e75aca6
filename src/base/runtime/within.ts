/**
 * Waits for work for a limited time. After the limit the work continues, and its outcome is ignored.
 *
 * @param otherwise returns the result, or throws, if the time is over first
 */
export async function within<Result, Late>(
  milliseconds: number,
  work: Promise<Result>,
  otherwise: () => Late,
): Promise<Result | Late> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    return await Promise.race([work, limit.then(otherwise)]);
  } finally {
    clearTimeout(timer);
  }
}
