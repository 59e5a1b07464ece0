/** What our own forms recognise, to say it in their words. Callers of the API get messages only. */
export type ErrorCode = 'url taken' | 'url not https' | 'unknown connections';

/** An invalid field of a body, header or query: its name and what it must be, never its value. */
export type FieldError = { field: string; message: string; code?: ErrorCode | undefined };

/** Every way in which the service refuses. `http/` decides what a caller sees. */
export type Failure =
  | { kind: 'invalid'; message: string; errors?: FieldError[]; code?: ErrorCode | undefined }
  | { kind: 'unauthenticated'; scheme?: 'ApiKey' | 'Bearer' } // by default ApiKey, which is `x-api-key`
  | { kind: 'forbidden'; reason?: string } // why, where that is not the credential
  | { kind: 'not allowed' } // the person's role does not allow it
  | { kind: 'in clear' } // over http, where the service has https
  | { kind: 'cross-site' } // a form that was not sent by one of our pages
  | { kind: 'not found'; what?: string } // such as `vehicle`; without it, there is no such path
  | { kind: 'method not allowed'; allow: string[] }
  | { kind: 'too large'; limitBytes: number }
  | { kind: 'not json' }
  | { kind: 'not gzip' } // compressed in another way
  | { kind: 'rate limited'; retryAfter: number }
  | { kind: 'over quota'; quota: string; retryAfter: number } // of an account and day; or the database is nearly full
  | { kind: 'unavailable'; retryAfter: number; message?: string } // a message for people
  | { kind: 'moved'; cells: string[] } // the account may be in one of these cells, to which a router passes the request on
  | { kind: 'unhealthy'; message: string; retryAfter: number; data: object };

/** How messages name a quota that is used up. */
export const overQuota = (quota: string): string =>
  quota === 'database'
    ? 'Storage is nearly full, and takes no records of this account for now'
    : `The account has used up its ${quota} of today`;

export class Refusal extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.kind);
    this.failure = failure;
  }
}

/** Creates the most common refusal: `message` for people, `errors` by field; `code` if there are none. */
export const invalid = (message: string, errors?: FieldError[], code?: ErrorCode) =>
  new Refusal({ kind: 'invalid', message, code, ...(errors && { errors }) });

/** The refusal of one field. */
export const invalidField = (field: string, message: string): Refusal =>
  invalid(`${field} ${message}`, [{ field, message }]);

/** The refusal because of something that failed and may recover. */
export const unavailable = (cause: unknown, retryAfter: number): Refusal =>
  Object.assign(new Refusal({ kind: 'unavailable', retryAfter }), { cause });

/** The refusal that `error` is, or was caused by; undefined if there is none. */
export function refusalIn(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  return error instanceof Error && error.cause ? refusalIn(error.cause) : undefined;
}
