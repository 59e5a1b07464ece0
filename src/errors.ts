/** One wrong field of a body, header or query: where it is and what it must be. Never its value. */
export type FieldError = { field: string; message: string };

/** Everything that can be refused, and no more. What a caller sees of it is decided in `http/`. */
export type Failure =
  | { kind: 'invalid'; message: string; errors?: FieldError[] }
  | { kind: 'unauthenticated' }
  | { kind: 'forbidden' }
  | { kind: 'not found' }
  | { kind: 'method not allowed'; allow: string[] }
  | { kind: 'too large'; limitBytes: number }
  | { kind: 'not json' }
  | { kind: 'rate limited'; retryAfter: number }
  | { kind: 'unavailable'; retryAfter: number }
  | { kind: 'unhealthy'; message: string; retryAfter: number; data: object };

/** A refusal on its way to whoever asked. */
export class Refusal extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.kind);
    this.failure = failure;
  }
}

/** Shorthand for the commonest refusal: `message` for people, `errors` by field. */
export const invalid = (message: string, errors?: FieldError[]) =>
  new Refusal({ kind: 'invalid', message, ...(errors && { errors }) });
