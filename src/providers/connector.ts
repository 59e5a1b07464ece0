/** What can be kept as JSON. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** What a connection pulls, each with a cursor of its own. */
export const feedNames = ['vehicles', 'drivers', 'trips', 'events'] as const;
export type FeedName = (typeof feedNames)[number];

/** A record as `/ingest` takes it. Its fields are whatever the provider gave: the schema of `/ingest` checks them. */
export type ProviderRecord = { kind: 'vehicle' | 'driver' | 'trip' | 'safetyEvent' | 'accident' } & {
  [field: string]: unknown;
};

/**
 * Records of a page. `vehicles` are what the provider said in passing of the vehicles that the records name: they are
 * used where a vehicle is not known yet.
 */
export type Found = { records: ProviderRecord[]; vehicles?: ProviderRecord[] };

/** A page of a list, and where the next one begins: undefined after the last. */
export type Page = Found & { next: Json | undefined };

/** What happened from one time to another, in milliseconds since 1970. */
export type Window = { from: number; to: number };

/** What a connection pulls of one sort, through an `Api` of the provider's own. */
export type Feed<Api> = {
  everyMinutes: number;
  /**
   * The next page of what is new or has changed; the first time `cursor` is null. `since` is when the connection was
   * made: feeds with a history begin there, others begin with everything. The new cursor is what the page after it goes
   * on from, kept once the records have landed; `more` says that this page is there already.
   */
  changes(api: Api, cursor: Json, since: number): Promise<Found & { cursor: Json; more: boolean }>;
  /** Where to begin again if the provider refuses a cursor: at the newest time that it has, less the overlap. */
  restart?(cursor: Json): Json;
  /** What happened before the connection was made, in windows of so many days, the newest first. */
  history?: {
    windowDays: number;
    /** Whether a window of some minutes costs little. Then the newest are read in between while there is a backlog. */
    isExact?: true;
    page(api: Api, window: Window, place: Json): Promise<Page>;
  };
};

/**
 * What a connection calls its provider with. `session` is what `keepSession` kept last; `until` is when all calls of the
 * page that is being read must have ended (milliseconds since 1970).
 */
export type Access = {
  credential: string;
  baseUrl: string;
  until: number;
  session: Json;
  keepSession(session: Json): void;
  /** Whether a URL that the provider names may be called. */
  mayCall(url: string): boolean;
  /** The connection's own map of incident words: where people name things themselves, it says which ones to pull. */
  incidentTypeMap?: Record<string, string[]> | undefined;
};

/** A webhook of the provider, which only makes a pull due. */
export type ProviderWebhook = {
  /** What to enter at the provider, in words, one step each. */
  steps: string[];
  /** Whether the provider signed this call with the secret, within five minutes. */
  isSigned(headers: Headers, body: Uint8Array<ArrayBuffer>, secret: string): Promise<boolean>;
};

/** A part of a credential. What is secret is hidden while people type it, and never shown again. */
export type CredentialField = { name: string; label: string; isSecret: boolean; hint?: string };

/** Everything about one provider. A new one is a folder with one of these, and a line in `registry.ts`. */
export type Connector<Api = unknown> = {
  provider: string;
  name: string;
  /** Where its API is, unless a connection says otherwise, and in which other regions. */
  baseUrl: string;
  regions: { [region: string]: string };
  /**
   * What people need to know to create the credential, and what it may need to read. With `fields`, people enter each by
   * itself, and `readCredential` gets them as JSON, by their names.
   */
  credential: { label: string; where: string; scopes: string[]; example: string; fields?: CredentialField[] };
  maxHistoryDays: number;
  /**
   * The credential in the form in which it is kept, and its identity: an account connects each once.
   *
   * @throws Problem: what is wrong with it
   */
  readCredential(text: string): { credential: string; identity: string };
  open(access: Access): Api;
  /** Tries the credential. Returns whose it is. @throws Problem */
  check(api: Api): Promise<Organisation>;
  feeds: { [name in FeedName]?: Feed<Api> };
  webhook?: ProviderWebhook;
};

/** An organisation as its provider calls it, and the provider's id of it: undefined if it gives none. */
export type Organisation = { name: string; id: string | undefined };

/** No credential that we know of is nearly as long. */
export const maxCredential = 4000;

/** What a form asks for of a credential, each by the name of its input: the whole, or each of its parts. */
export const inputsOf = ({
  credential: { fields, label, example },
}: Pick<Connector, 'credential'>): (CredentialField & { input: string })[] =>
  fields?.map((field) => ({ ...field, input: `credential.${field.name}` })) ?? [
    { name: 'credential', input: 'credential', label, isSecret: true, hint: `Looks like ${example}` },
  ];

/** A credential as `readCredential` takes it, from what a form says of each input. */
export function credentialFrom(
  connector: Pick<Connector, 'credential'>,
  value: (input: string) => string,
): string {
  if (!connector.credential.fields) return value('credential');
  return JSON.stringify(
    Object.fromEntries(inputsOf(connector).map(({ name, input }) => [name, value(input)])),
  );
}
