const usualMs = 5_000;

/** Waits for a reply, five seconds by default. @throws Error, when it takes longer */
export async function inTime<T>(reply: Promise<T>, ms = usualMs): Promise<T> {
  const over = new AbortController();
  const timeout = async (): Promise<never> => {
    await scheduler.wait(ms, { signal: over.signal });
    throw new Error(`no response within ${ms} ms`);
  };
  try {
    return await Promise.race([reply, timeout()]);
  } finally {
    over.abort();
  }
}
