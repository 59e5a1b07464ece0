import { dayMs, hourMs } from '../platform/durations.ts';
import type { Connector } from './connector.ts';

/**
 * What can go wrong with a provider: it refuses the credential; the credential may not read this; we call too often; it
 * fails or does not respond; it returns something unexpected; or what people entered cannot be right.
 */
export type ProblemKind =
  | 'refused'
  | 'not permitted'
  | 'rate limited'
  | 'unavailable'
  | 'unexpected'
  | 'invalid';

/** However long a provider says to wait, we ask again after this. */
export const longestWaitMs = hourMs;
const sensibleMs = dayMs;

/** Something that went wrong with a provider, in words that people may read. */
export class Problem extends Error {
  readonly kind: ProblemKind;
  /** How long to wait, if the provider said so: an hour at most, and nothing if it said more than a day. */
  readonly retryAfterMs: number | undefined;

  /** The HTTP status of the reply, if that is what was wrong. */
  readonly status: number | undefined;

  constructor(kind: ProblemKind, message: string, retryAfterMs?: number, status?: number) {
    super(message);
    this.kind = kind;
    this.status = status;
    this.retryAfterMs =
      retryAfterMs !== undefined && retryAfterMs <= sensibleMs
        ? Math.min(retryAfterMs, longestWaitMs)
        : undefined;
  }
}

/** What is wrong with a provider and what to do about it, as one or two sentences for people. */
export function adviceFor(
  { name, credential }: Pick<Connector, 'name' | 'credential'>,
  { kind, message }: Pick<Problem, 'kind' | 'message'>,
): string {
  const scopes = credential.scopes.join(', ');
  switch (kind) {
    case 'refused':
      return `${name} refuses the ${credential.label}. Create a new one${scopes && ` with these scopes: ${scopes}`}.`;
    case 'not permitted':
      return `The ${credential.label} may not read this.${scopes && ` It needs these scopes: ${scopes}.`}`;
    case 'rate limited':
      return `${name} is rate limiting this ${credential.label}. We will retry automatically.`;
    case 'unavailable':
    case 'unexpected':
      return `${name} ${message}. We will keep trying.`;
    case 'invalid':
      return message;
  }
}
