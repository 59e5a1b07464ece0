/** Everything the log can hold: our own ids, numbers and words, and nothing that others sent. */
export type Line =
  | {
      level: 'info';
      kind: 'request';
      requestId: string;
      method: string;
      /** The route's pattern; `/*` if no route matched. */
      route: string;
      status: number;
      ms: number;
      accountId: string | null;
      tokenId: string | null;
      /** In a router's log: the cell that was asked last. */
      cell?: string;
      /** On `/ingest`: the number of records by result. */
      records?: { accepted: number; unchanged: number; rejected: number };
    }
  | ({
      level: 'info';
      kind: 'attempt';
      webhookId: string;
      accountId: string;
      result: string;
      /** The wait before the next attempt, from when this one ended; absent after the last. */
      retryMs?: number | undefined;
    } & AttemptMade)
  | DeliveredLine
  /** How many attempts an invocation left out of the log, because it had too many. */
  | { level: 'info'; kind: 'attempts omitted'; omitted: number }
  | ({ level: 'warn' | 'error'; kind: 'fault'; message: keyof Faults } & Partial<Described>);

/** Successful deliveries of a webhook that were recorded together. */
export type DeliveredLine = {
  level: 'info';
  kind: 'delivered';
  webhookId: string;
  accountId: string;
  deliveries: AttemptMade[];
};

type AttemptMade = {
  /** The request that brought the notification; null if it is older than this field. */
  requestId: string | null;
  deliveryId: string;
  /** 1 accident, 2 event. */
  type: number;
  attempt: number;
  /** How long after it was due the call began. */
  lateMs: number;
  status: number | null;
  ms: number;
};

type Nothing = Record<string, never>;

/** The faults on our side, with what the log has about them besides the error. */
type Faults = {
  'Internal error': { requestId: string; route: string };
  'Database unavailable': { requestId: string; route: string };
  'Database does not respond': Nothing;
  'Queue refused messages': { left: number };
  'Deliveries were interrupted': { webhookId?: string };
  'Cannot read headers': { webhookId: string };
  'A pull was interrupted': { connectionId?: string };
  'A summary could not be sent': { accountId: string; code: string | null };
  'An alert could not be sent': { accountId: string; alert: string; code: string | null };
  'Alerts are over the limit of the day': { left: number };
  'The database is nearly full': { percent: number };
  'An accident has not been delivered for 5 minutes': {
    webhookId: string;
    deliveryId: string;
    webhooks: number;
  };
  'A job failed': { job: string; accountId?: string; connectionId?: string };
  'A deletion failed': { deletionId: string; accountId: string };
  'A replica failed, and the primary is read': Nothing;
  'A file of the archive cannot be read': { key: string };
  'A cell does not respond': { cell: string };
  'KV refused a write': Nothing;
  'A sign-in link could not be sent': { code: string | null };
};

/** Writes one line; the only place that writes to the log. */
export const log = (line: Line): void => console[line.level](JSON.stringify(line));

/** How many characters of attempts an invocation logs: of 256 KB that Workers keeps. */
const maxAttemptCharacters = 160_000;

/** Logs the attempts of an invocation while there is room, and at its end how many were left out. */
export function attemptLog() {
  let remaining = maxAttemptCharacters;
  let omitted = 0;
  return {
    log(line: DeliveredLine | Extract<Line, { kind: 'attempt' }>): void {
      remaining -= JSON.stringify(line).length;
      if (remaining >= 0) log(line);
      else omitted += 'deliveries' in line ? line.deliveries.length : 1;
    },
    end(): void {
      if (omitted > 0) log({ level: 'info', kind: 'attempts omitted', omitted });
    },
  };
}
export type AttemptLog = ReturnType<typeof attemptLog>;

/** Logs a fault. A `warn` recovers by itself; an `error` needs an operator. */
export const fault = <M extends keyof Faults>(
  level: 'warn' | 'error',
  message: M,
  about: Faults[M],
  error?: unknown,
): void =>
  log({ level, kind: 'fault', message, ...about, ...(error !== undefined && described(error)) });

/** `file` is the key of the file that is concerned, which names no person. */
type Described = { error: string; stack?: string; file?: string };

/** An error as the log may show it: a SyntaxError's message contains the text. */
export function described(error: unknown): Described {
  if (!(error instanceof Error)) return { error: typeof error };
  const file = 'key' in error && typeof error.key === 'string' ? { file: error.key } : {};
  if (error.cause instanceof Error) return { ...described(error.cause), ...file };
  const { name, message, stack = '' } = error;
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return {
    error: name === 'SyntaxError' ? name : `${name}: ${message}`,
    ...file,
    ...(frames.length > 0 && { stack: frames.map((frame) => frame.trim()).join('\n') }),
  };
}
