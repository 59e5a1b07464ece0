/** Time that passes while nothing else can happen: `run` plays all that sleeps, in order. */
export function virtualTime() {
  let now = 0;
  const sleepers: { until: number; wake: () => void }[] = [];
  return {
    now: () => now,
    sleep: (ms: number): Promise<void> =>
      new Promise((wake) => {
        sleepers.push({ until: now + ms, wake });
      }),
    async run(): Promise<void> {
      for (;;) {
        for (let turns = 0; turns < 20; turns++) await Promise.resolve(); // until everybody sleeps
        const next = sleepers.reduce((a, b) => (b.until < a.until ? b : a), {
          until: Number.POSITIVE_INFINITY,
          wake: () => {},
        });
        if (next.until === Number.POSITIVE_INFINITY) return;
        sleepers.splice(sleepers.indexOf(next), 1);
        now = next.until;
        next.wake();
      }
    },
  };
}
