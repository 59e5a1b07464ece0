import { setTimeout as wait } from 'node:timers/promises';
import type * as v from 'valibot';
import type { Operation } from '../../operator/api/operation.ts';
import type { operations } from '../../operator/api/operations.ts';

/** A request that failed or got no reply. Its message is for the person at the terminal. */
export class ApiError extends Error {
  /** Whether the same call may work a little later. */
  readonly temporary: boolean;
  /** After how many seconds, if the service says so. */
  readonly retryAfter: number;

  constructor(message: string, temporary = false, retryAfter = 0) {
    super(message);
    this.temporary = temporary;
    this.retryAfter = retryAfter;
  }
}

/** Part of a list, and the cursor of the rest. */
export type Page<T> = { data: T[]; next?: string };

/** A client of the operators' API of one service: paths, and what goes in and comes back, are as `src/operator/api` declares. */
export type Operator = { [method in Method]: Call<method> } & {
  /** Reads one page of a list. */
  page: <P extends Listed>(path: P, asked: Asked<On<'get', P>>) => Promise<Page<Item<P>>>;
  /** Reads a list to its end, however many parts it comes in. */
  list: <P extends Listed>(path: P, ...asked: Given<'get', P>) => Promise<Item<P>[]>;
};

type Known = (typeof operations)[keyof typeof operations];
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
/** By their calls: to look one up is a hundred times less work for the compiler than to extract it from all. */
type Calls = { [O in Known as O['call']]: O };
type On<M extends Method, P extends string> = Calls[`${Uppercase<M>} ${P}` & keyof Calls];
type Data<O extends Operation> = v.InferOutput<O['reply']>;

type PathOf<C extends string> = C extends `${string} ${infer P}` ? P : never;

type Call<M extends Method> = <P extends PathOf<Extract<Known['call'], `${Uppercase<M>} ${string}`>>>(
  path: P,
  ...asked: Given<M, P>
) => Promise<Data<On<M, P>>>;

/** What a call needs besides its path, if anything: the ids that the path names, a query, and a body. */
type Given<M extends Method, P extends string> =
  Partial<Asked<On<M, P>>> extends Asked<On<M, P>> ? [asked?: Asked<On<M, P>>] : [Asked<On<M, P>>];
type Asked<O extends Operation> = { [name in Ids<O['call']>]: string } & (O extends {
  body: infer B extends v.GenericSchema;
}
  ? { body: v.InferInput<B> }
  : unknown) &
  (O extends { query: infer Q extends v.GenericSchema } ? { query: v.InferInput<Q> } : unknown) &
  (O extends { part: 'slice' } ? { query?: { cursor?: string; limit?: string } } : unknown);
type Ids<P extends string> = P extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | Ids<`/${Rest}`>
  : P extends `${string}/:${infer Name}`
    ? Name
    : never;

type Listed = PathOf<Extract<Known, { part: string }>['call']>;
type Item<P extends string> = Data<On<'get', P>> extends (infer T)[] ? T : never;

/** Returns a client of the service at `baseUrl`. Its methods return the `data` of a reply, or throw an ApiError. */
export function operatorOf(baseUrl: string, operatorKey: string): Operator {
  const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' };
  const call = (method: string, path: string, { query, body, ...ids }: AnyAsked = {}) =>
    envelope<never>(`${baseUrl}/operator${filled(path, ids)}${queryOf(query)}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((error) => {
      throw error instanceof ApiError && error.message.startsWith('401 ') ? new ApiError(wrongKey) : error;
    });
  const dataOf = (method: string) => async (path: string, asked?: AnyAsked) =>
    (await call(method, path, asked)).data;
  const list = async (path: string, asked?: AnyAsked) => {
    const items: never[] = [];
    let cursor: string | undefined;
    do {
      const part: Envelope<never[]> = await call('GET', path, {
        ...asked,
        query: { ...asked?.query, cursor },
      });
      items.push(...part.data);
      cursor = part.next;
    } while (cursor !== undefined);
    return items;
  };
  return {
    get: dataOf('GET'),
    post: dataOf('POST'),
    put: dataOf('PUT'),
    patch: dataOf('PATCH'),
    delete: dataOf('DELETE'),
    page: (path, asked) => call('GET', path, asked),
    list,
  };
}

const wrongKey =
  'The service does not accept this operator key. Set FLEET_OPERATOR_KEY to its OPERATOR_KEY, and check --url';

type AnyAsked = {
  query?: { [name: string]: string | undefined };
  body?: unknown;
  [id: string]: unknown;
};

/** The path with its ids in the place of their names. */
const filled = (path: string, ids: { [name: string]: unknown }): string =>
  path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(String(ids[name])));

function queryOf(query: { [name: string]: string | undefined } = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return given.length > 0 ? `?${new URLSearchParams(given)}` : '';
}

/** Makes one request and returns the `data` of its envelope. @throws ApiError */
export const request = async <T>(url: string, init: RequestInit): Promise<T> =>
  (await envelope<T>(url, init)).data;

type Envelope<T> = { message?: string; data: T; next?: string };

async function envelope<T>(url: string, init: RequestInit): Promise<Envelope<T>> {
  const response = await fetch(url, init).catch(() => {
    throw new ApiError(`Cannot reach ${new URL(url).origin}. Is the service running? (npm start)`, true);
  });
  const reply = (await response.json().catch(() => {
    throw new ApiError(
      `${new URL(url).origin} sent a ${response.status} reply that is not JSON`,
      response.status >= 500,
    );
  })) as Envelope<T>; // what the service replies with
  if (!response.ok)
    throw new ApiError(
      `${response.status} ${reply.message ?? response.statusText}`,
      [429, 502, 503, 504].includes(response.status),
      Number(response.headers.get('retry-after')),
    );
  return reply;
}

/** Makes a call that may be repeated, up to `maxTries` times while it may work a little later. @throws ApiError */
export async function insist<T>(maxTries: number, call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ApiError) || !error.temporary) throw error;
      if (tries === maxTries) throw new ApiError(`${error.message}. Run the same command again to continue`);
      await wait(error.retryAfter > 0 ? error.retryAfter * 1000 : 250 * 2 ** tries);
    }
}
