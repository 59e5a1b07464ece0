/**
 * What can go wrong with a provider: it refuses the credential; the credential may not read this; we call too often; it
 * fails or does not answer; it answers what nobody expected; or what people entered cannot be right.
 */
export type ProblemKind =
  | 'refused'
  | 'not permitted'
  | 'rate limited'
  | 'unavailable'
  | 'unexpected'
  | 'invalid';

/** Something that went wrong with a provider, in words that people may read. */
export class Problem extends Error {
  readonly kind: ProblemKind;
  /** How long to wait, if the provider said so. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: ProblemKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}
