/**
 * All that the log can hold: ids of ours, numbers, and words of our own. No credential, address, name, header,
 * body or answer has a place in it, and no path or query: those hold sign-in links and VINs.
 */
export type Line =
  | {
      level: 'info';
      kind: 'request';
      requestId: string;
      method: string;
      /** The route's pattern, `/*` where there is none. */
      route: string;
      status: number;
      ms: number;
      accountId: string | null;
      tokenId: string | null;
      /** On `/ingest`: what became of the records. */
      records?: { accepted: number; unchanged: number; rejected: number };
    }
  | {
      level: 'info';
      kind: 'attempt';
      /** The request that the notification came in by; null for those from before it was kept. */
      requestId: string | null;
      deliveryId: string;
      webhookId: string;
      accountId: string;
      /** 1 accident, 2 event. */
      type: number;
      attempt: number;
      result: string;
      /** The receiver's HTTP status; null when it gave none. */
      status: number | null;
      ms: number;
    }
  | ({ level: 'warn' | 'error'; kind: 'fault' } & Fault);

/** Something went wrong on our side. */
export type Fault =
  | ({ message: 'Internal error'; requestId: string; route: string } & Described)
  | ({ message: 'Database does not answer' } & Described)
  | ({ message: 'Queue refused wake-ups'; left: number } & Described)
  | { message: 'Wake-up failed ten times'; webhookId: string; deliveryId: string }
  | ({ message: 'Cannot read headers'; webhookId: string } & Described)
  | ({ message: 'Attempts were not recorded'; count: number } & Described)
  | { message: 'KV refused a write' }
  | { message: 'A sign-in link could not be sent' };

/** Writes one line: the one place of the Worker that does. */
export const log = (line: Line): void => console[line.level](JSON.stringify(line));

/** Writes that something went wrong, and how bad that is: a `warn` mends itself. */
export const fault = (level: 'warn' | 'error', what: Fault): void => log({ level, kind: 'fault', ...what });

type Described = { error: string; stack?: string };

/**
 * An error for the log. Drizzle's messages hold the statement's values, so only their cause is told; those of
 * a SyntaxError quote what was being read.
 */
export function described(error: unknown): Described {
  if (!(error instanceof Error)) return { error: typeof error };
  if (error.cause instanceof Error) return described(error.cause);
  const { name, message, stack = '' } = error;
  const told =
    name === 'SyntaxError'
      ? name
      : message.startsWith('Failed query')
        ? 'Failed query'
        : `${name}: ${message}`;
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return { error: told, ...(frames.length > 0 && { stack: frames.map((frame) => frame.trim()).join('\n') }) };
}
