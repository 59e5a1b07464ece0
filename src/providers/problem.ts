import { dayMs, hourMs } from '../platform/durations.ts';
import type { Connector } from './connector.ts';

/**
 * What can go wrong: refused, not permitted, rate limited, no response, something unexpected, or bad input.
 */
export type ProblemKind =
  | 'refused'
  | 'not permitted'
  | 'rate limited'
  | 'unavailable'
  | 'unexpected'
  | 'invalid';

/** The longest wait, whatever the provider says. */
export const longestWaitMs = hourMs;
const sensibleMs = dayMs;

/** A problem with a provider, with a message for people. */
export class Problem extends Error {
  readonly kind: ProblemKind;
  /** The provider's wait: an hour at most, and none if it said more than a day. */
  readonly retryAfterMs: number | undefined;

  /** The HTTP status, if that is the problem. */
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

/** A reply is larger than is read of any. */
export class TooLarge extends Problem {
  constructor() {
    super('unexpected', 'returns more than 32 MiB');
  }
}

/** The problem and what to do about it, as one or two sentences for people. */
export function adviceFor(
  { name, credential }: Pick<Connector, 'name' | 'credential'>,
  { kind, message }: Pick<Problem, 'kind' | 'message'>,
): string {
  const scopes = credential.scopes.join(', ');
  switch (kind) {
    case 'refused':
      return `${name} refuses the ${credential.label}. Create a new one${scopes && ` with these permissions: ${scopes}`}.`;
    case 'not permitted':
      return `The ${credential.label} may not read this.${scopes && ` It needs these permissions: ${scopes}.`}`;
    case 'rate limited':
      return `${name} is rate limiting this ${credential.label}. We will retry automatically.`;
    case 'unavailable':
    case 'unexpected':
      return `${name} ${message}. We will keep trying.`;
    case 'invalid':
      return message;
  }
}
