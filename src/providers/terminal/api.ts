import { isPrintable } from '../../platform/fields.ts';
import { type Call, call } from '../call.ts';
import type { Access, Json } from '../connector.ts';
import { at, field, listAt } from '../read.ts';

/** The two parts of a credential: our own, and the one that a customer's connection has at Terminal. */
export type Keys = { secretKey: string; connectionToken: string };

/** What Terminal is read with, and by when a page's calls must have ended (milliseconds since 1970). */
export type Api = Pick<Access, 'baseUrl' | 'incidentTypeMap'> & Keys & { until?: number };

export type Query = NonNullable<Call['query']>;

/** How many Terminal gives at most is not known; this many it does. */
const limit = 100;

/** @throws Problem */
export async function get(api: Api, path: string, query: Query = {}): Promise<unknown> {
  const { json } = await call({
    url: `${api.baseUrl}${path}`,
    headers: { Authorization: `Bearer ${api.secretKey}`, 'Connection-Token': api.connectionToken },
    query,
    ...(api.until !== undefined && { withinMs: api.until - Date.now() }),
  });
  return json;
}

/** A page of a list, and the cursor of the next one: null after the last. @throws Problem */
export async function page(api: Api, path: string, query: Query, after: Json) {
  const cursor = typeof after === 'string' ? after : undefined;
  const reply = await get(api, path, { ...query, limit, cursor });
  const next = field(reply, 'next');
  return { items: listAt(reply, 'results'), next: typeof next === 'string' ? next : null };
}

export const iso = (ms: number): string => new Date(ms).toISOString();

const currentConnection = (api: Api): Promise<unknown> => get(api, '/connections/current');

/** What Terminal calls the customer whose connection it is, or else the provider behind it. @throws Problem */
export async function organisationOf(api: Api): Promise<{ name: string; problem: string | undefined }> {
  const connection = await currentConnection(api);
  const names = [
    at(connection, 'company', 'name'),
    at(connection, 'account', 'name'),
    providerOf(connection),
  ];
  return { name: names.find(isName) ?? 'Terminal', problem: problemIn(connection) };
}

/** Why nothing new comes, if Terminal is not connected to the provider any more. @throws Problem */
export const problemOf = async (api: Api): Promise<string | undefined> =>
  problemIn(await currentConnection(api));

function problemIn(connection: unknown): string | undefined {
  const provider = providerOf(connection);
  const name = isName(provider) ? provider : 'the provider';
  switch (at(connection, 'status')) {
    case 'disconnected':
      return `is no longer connected to ${name}: the customer has to sign in there again, through Terminal`;
    case 'archived':
    case 'pending_deletion':
      return `has archived this connection to ${name}`;
    default:
      return undefined;
  }
}

const providerOf = (connection: unknown): unknown => at(connection, 'provider', 'name');

const isName = (name: unknown): name is string =>
  typeof name === 'string' && name.trim() !== '' && name.length <= 200 && isPrintable(name);

/**
 * Where the passes of a list stand. Terminal lists by when it took something in, and by nothing else at the same time: a
 * pass asks for what changed since the last one began, and for everything while `from` is null.
 */
export type Passes = { from: number | null; wholeAt: number; pass: Pass | null };
export type Pass = { beganAt: number; isWhole: boolean; after: Json };

/** Passes overlap by this: clocks differ. */
const overlapMs = 60_000;

/** The time moves in steps, so that minutes in which nothing happens cost no write. */
const stepMs = 10 * 60_000;

const dayMs = 86_400_000;

export const passesFrom = (from: number | null): Passes => ({ from, wholeAt: 0, pass: null });

/** The pass that is going on, or a new one; with `isDaily` one a day is for everything. */
export function beginPass({ from, wholeAt, pass }: Passes, now: number, { isDaily = false } = {}): Pass {
  const isWhole = from === null || (isDaily && now - wholeAt >= dayMs);
  return pass ?? { beganAt: now, isWhole, after: null };
}

export const changedSince = ({ from }: Passes, { isWhole }: Pass): Query =>
  from === null || isWhole ? {} : { modifiedAfter: iso(from) };

/** Where the passes stand after a page; `next` is the cursor of the one after it. */
export function afterPage({ from, wholeAt }: Passes, pass: Pass, next: string | null): Passes {
  if (next !== null) return { from, wholeAt, pass: { ...pass, after: next } };
  const isLate = from === null || pass.beganAt - from > stepMs;
  return {
    from: isLate ? pass.beganAt - overlapMs : from,
    wholeAt: pass.isWhole ? pass.beganAt : wholeAt,
    pass: null,
  };
}
