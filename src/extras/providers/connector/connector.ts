import { dayMs, hourMs } from '../../../core/platform/durations.ts';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** What a connection pulls, each with its own cursor. */
export const feedNames = ['vehicles', 'drivers', 'trips', 'events'] as const;
export type FeedName = (typeof feedNames)[number];

/** A record for `/ingest`. Its fields are the provider's: the schema of `/ingest` validates them. */
export type ProviderRecord = {
  kind: 'vehicle' | 'driver' | 'trip' | 'safetyEvent' | 'accident';
} & {
  [field: string]: unknown;
};

/**
 * Records of a page. `vehicles` are what it has of their vehicles, used for those that are unknown; `problem` is why a
 * part is missing, for which nothing waits.
 */
export type Found = {
  records: ProviderRecord[];
  vehicles?: ProviderRecord[];
  problem?: ProviderError | undefined;
};

/** A page of a list, and where the next one begins: undefined after the last. */
export type Page = Found & { next: Json | undefined };

/** A time span in milliseconds since 1970. */
export type Window = { from: number; to: number };

/** One kind of data that a connection pulls, through an `Api` of the provider's own. */
export type Feed<Api> = {
  everyMinutes: number;
  /**
   * The next page of changes; `cursor` is null at first. `since` is when the connection was made:
   * feeds with a history begin there. The new cursor is stored once the records are.
   */
  changes(api: Api, cursor: Json, since: number): Promise<Found & { cursor: Json; more: boolean }>;
  /** Where to start again if the provider refuses a cursor: at the newest time it has, less the overlap. */
  restart?(cursor: Json): Json;
  /** What happened before the connection was made, in windows of so many days, newest first. */
  history?: {
    windowDays: number;
    /** Whether a window of minutes is cheap: the newest records are then read during a backlog. */
    isExact?: true;
    page(api: Api, window: Window, position: Json): Promise<Page>;
  };
};

/** How a connection calls its provider; all calls of the current page must have ended by `until`. */
export type Access = {
  wanted: Wanted;
  credential: string;
  baseUrl: string;
  until: number;
  /** The ids of items of the current page that are too large to be read. */
  tooLarge: unknown[];
  session: Json;
  keepSession(session: Json): void;
  mayCall(url: string): boolean;
  /** The connection's own map of incident labels, which may also say which ones to pull. */
  incidentTypeMap?: Record<string, string[]> | undefined;
};

/**
 * What is read of a provider's JSON: properties of these names, and the `firsts` of any name. Those that are `details`
 * are left out of what is large: they take at most a quarter of the room.
 */
export type Wanted = {
  names: ReadonlySet<string>;
  firsts: { [name: string]: number };
  details: string[];
};

/** A provider's webhook, which only makes a pull due. */
export type ProviderWebhook = {
  steps: string[];
  /** Whether the provider signed this call with the secret within the last five minutes. */
  isSigned(headers: Headers, body: Uint8Array<ArrayBuffer>, secret: string): Promise<boolean>;
};

/**
 * A part of a credential. `isIdentity`: an account connects a credential with the same such parts
 * once; `otherwise` stands for one left out; `domain`: only operators may name a host outside it.
 */
export type CredentialField = {
  name: string;
  label: string;
  isSecret: boolean;
  isIdentity?: true;
  otherwise?: string;
  domain?: string;
  hint?: string;
};

/** Everything about one provider. A new one is a folder with one of these, and a line in `registry.ts`. */
export type Connector<Api = unknown> = {
  provider: string;
  name: string;
  /** The address of its API, and those of other regions. */
  baseUrl: string;
  regions: { [region: string]: string };
  /** How to create the credential, and what it must be able to read. With `fields` it is JSON. */
  credential: {
    label: string;
    where: string;
    scopes: string[];
    example: string;
    fields?: CredentialField[];
  };
  maxHistoryDays: number;
  wanted: Wanted;
  /** @throws Problem: invalid, for a credential that cannot be one */
  open(access: Access): Api;
  /** Tries the credential. Returns its organisation. @throws Problem */
  check(api: Api): Promise<Organisation>;
  feeds: { [name in FeedName]?: Feed<Api> };
  webhook?: ProviderWebhook;
  /** A link to an accident's report, or null; only if links expire. @throws Problem */
  reportLink?(
    api: Api,
    accident: { at: number; isIts(id: unknown): boolean },
  ): Promise<string | null>;
};

/** The provider's name for an organisation, whatever that is, and its id if it has one. */
export type Organisation = { name: unknown; id: string | undefined };

/** What can go wrong with a provider, or with what people entered. */
export type ProviderErrorKind =
  | 'refused'
  | 'not permitted'
  | 'rate limited'
  | 'unavailable'
  | 'unexpected'
  | 'invalid';

export const longestWaitMs = hourMs;
const sensibleMs = dayMs;

/** A problem with a provider, with a message for people. */
export class ProviderError extends Error {
  readonly kind: ProviderErrorKind;
  /** The provider's wait: an hour at most, and none if it said more than a day. */
  readonly retryAfterMs: number | undefined;

  /** The HTTP status, if that is the problem. */
  readonly status: number | undefined;

  constructor(kind: ProviderErrorKind, message: string, retryAfterMs?: number, status?: number) {
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
export class TooLarge extends ProviderError {
  constructor() {
    super('unexpected', 'returns more than 32 MiB');
  }
}

/** The problem and what to do about it, as one or two sentences for people; `isRetried` if we try again. */
export function adviceFor(
  { name, credential }: Pick<Connector, 'name' | 'credential'>,
  { kind, message, isOfHistory }: Pick<ProviderError, 'kind' | 'message'> & { isOfHistory?: true },
  isRetried = true,
): string {
  const scopes = credential.scopes.join(', ');
  const later = 'Try again later.';
  const permissions = scopes && ` with these permissions: ${scopes}`;
  switch (kind) {
    case 'refused':
      return `${name} refuses the ${credential.label}. Create a new one${permissions}.`;
    case 'not permitted':
      return `The ${credential.label} may not read this.${scopes && ` It needs these permissions: ${scopes}.`}`;
    case 'rate limited':
      return `${name} is rate limiting this ${credential.label}. ${isRetried ? 'We will retry automatically.' : later}`;
    case 'unavailable':
    case 'unexpected':
      return `${name} ${message}${isOfHistory ? ' for history' : ''}. ${isRetried ? 'We will keep trying.' : later}`;
    case 'invalid':
      return message;
  }
}
