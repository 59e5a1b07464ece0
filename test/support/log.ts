export type LogLine = Record<string, unknown> & { level: string; kind: string };

/** Listens to all that the Worker writes: raw, and as parsed lines of a kind. */
export function listenToLog() {
  const raw: string[] = [];
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const)
    vi.spyOn(console, method).mockImplementation(
      (...told: unknown[]) => void raw.push(told.join(' ')),
    );
  const lines = (kind: string): LogLine[] =>
    raw.map((line): LogLine => JSON.parse(line)).filter((line) => line.kind === kind);
  return { raw, lines };
}
