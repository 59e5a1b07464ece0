/** One invalid field of a body, header or query: its name and what it must be. Never its value. */
export type FieldError = { field: string; message: string };

/** Every way in which the service refuses. `http/` decides what a caller sees of each. */
export type Failure =
  | { kind: 'invalid'; message: string; errors?: FieldError[] }
  | { kind: 'unauthenticated'; scheme?: 'ApiKey' | 'Bearer' } // without one: ApiKey, which is `x-api-key`
  | { kind: 'forbidden' }
  | { kind: 'not allowed' } // a person whose role does not include it
  | { kind: 'cross-site' } // a form that no page of ours sent
  | { kind: 'not found' }
  | { kind: 'method not allowed'; allow: string[] }
  | { kind: 'too large'; limitBytes: number }
  | { kind: 'not json' }
  | { kind: 'rate limited'; retryAfter: number }
  | { kind: 'unavailable'; retryAfter: number }
  | { kind: 'moved'; retryAfter: number } // the account lives in another home: `http/home.ts` goes there
  | { kind: 'unhealthy'; message: string; retryAfter: number; data: object };

/** A failure on its way to the caller. */
export class Refusal extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.kind);
    this.failure = failure;
  }
}

/** Shorthand for the most common refusal: `message` for people, `errors` by field. */
export const invalid = (message: string, errors?: FieldError[]) =>
  new Refusal({ kind: 'invalid', message, ...(errors && { errors }) });

/** The refusal that `error` is or was caused by: Drizzle wraps what its driver throws. */
export function refusalIn(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  return error instanceof Error && error.cause ? refusalIn(error.cause) : undefined;
}
