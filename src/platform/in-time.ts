const usualMs = 5_000;

/** Waits for a reply, five seconds by default. @throws Error, when it takes longer */
export async function inTime<T>(reply: Promise<T>, ms = usualMs): Promise<T> {
  let cancel = () => {};
  const over = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(new Error(`no response within ${ms} ms`)), ms);
    cancel = () => clearTimeout(timer);
  });
  try {
    return await Promise.race([reply, over]);
  } finally {
    cancel();
  }
}
