import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type * as v from 'valibot';
import { cellHeader } from '../../core/platform/cells.ts';
import type { Operation } from '../../extras/operation.ts';
import type { operations } from '../../operator/api/operations.ts';
import { cellsNamed } from '../../router/cells.ts';
import { printable } from './print.ts';

type Reasons = {
  /** Whether the same call may work a little later. */
  temporary?: boolean;
  /** After how many seconds, if the service says so. */
  retryAfter?: number;
  /** The cells of which a router requires one to be chosen. */
  cells?: string[];
};

/** A failed request. Its message is for the person at the terminal. */
export class ApiError extends Error {
  readonly reasons: Reasons;

  constructor(message: string, reasons: Reasons = {}) {
    super(message);
    this.reasons = reasons;
  }
}

/** A client of one service's operators' API, typed by `src/operator/api`. */
export type Operator = {
  /** Returns the data of a response; of a list all parts, unless a limit is given. */
  call: <C extends Call>(call: C, ...asked: Given<C>) => Promise<Data<C>>;
  /** Writes what is at a path below `/operator` to a file for its owner alone, once complete. */
  download: (path: string, file: string) => Promise<void>;
};

type Known = (typeof operations)[keyof typeof operations];
/** By call: looking one up is a hundred times less work for the compiler than extracting it. */
type Calls = { [O in Known as O['call']]: O };
/** An operation of the API, such as `GET /accounts/:id/tokens`. */
export type Call = keyof Calls;
export type Data<C extends Call> = v.InferOutput<Calls[C]['reply']>;

/** The parameters of a call: the ids in its path, a query, and a body. */
export type Given<C extends Call> =
  Partial<Asked<Calls[C]>> extends Asked<Calls[C]> ? [asked?: Asked<Calls[C]>] : [Asked<Calls[C]>];
type Asked<O extends Operation> = { [name in Ids<O['call']>]: string } & {
  headers?: Headings;
} & (O extends {
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

/** A service as its operators reach it; behind a router, one of its cells. */
export type Service = { baseUrl: string; operatorKey: string; cell?: string | undefined };

/** Returns a client of a service. Failures throw an ApiError. */
export function operatorOf({ baseUrl, operatorKey, cell }: Service): Operator {
  const headers = {
    authorization: `Bearer ${operatorKey}`,
    'content-type': 'application/json',
    ...(cell && { [cellHeader]: cell }),
  };
  const page = (call: string, { query = {}, body, headers: more, ...ids }: AnyAsked) => {
    const [method = '', path = ''] = call.split(' ');
    const filled = path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(String(ids[name])));
    const parameters = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    );
    const url = `${baseUrl}/operator${filled}${parameters.length > 0 ? `?${new URLSearchParams(parameters)}` : ''}`;
    const init = {
      method,
      headers: { ...headers, ...more },
      body: body ? JSON.stringify(body) : null,
    };
    return envelope<never[]>(url, init).catch((error) => {
      if (!(error instanceof ApiError && error.message.startsWith('401 '))) throw error;
      const which = cell ? `The cell ${cell}` : 'The service';
      const remedy = `Set ${keyVariable(cell)} to its OPERATOR_KEY, and check --url`;
      throw new ApiError(`${which} does not accept this operator key. ${remedy}`);
    });
  };
  return {
    async download(path, file) {
      const response = await reached(`${baseUrl}/operator${path}`, { headers });
      const temporary = response.status >= 500;
      if (!response.ok || !response.body)
        throw new ApiError(`${response.status} ${file} cannot be read`, { temporary });
      const partial = `${file}.partial`;
      rmSync(partial, { force: true });
      await pipeline(response.body, createWriteStream(partial, { mode: 0o600 })).catch((error) => {
        throw new ApiError(`${partial} was cut short: ${error.message}`, { temporary: true });
      });
      renameSync(partial, file);
    },
    async call(call: string, asked: AnyAsked = {}) {
      let { data, next: cursor } = await page(call, asked);
      if (asked.query?.limit !== undefined) return data as never; // of this call
      while (cursor !== undefined) {
        const part = await page(call, { ...asked, query: { ...asked.query, cursor } });
        data = [...data, ...part.data];
        cursor = part.next;
      }
      return data as never;
    },
  };
}

/** The environment variable of an operator key: each cell has its own. */
export const keyVariable = (cell?: string): string =>
  ['FLEET_OPERATOR_KEY', cell?.toUpperCase()].filter(Boolean).join('_');

type Headings = { [name: string]: string };
type Query = { [name: string]: string | undefined };
type AnyAsked = { query?: Query; body?: unknown; headers?: Headings; [id: string]: unknown };

/** Makes one request and returns the `data` of its envelope. @throws ApiError */
export const request = async <T>(url: string, init: RequestInit): Promise<T> =>
  (await envelope<T>(url, init)).data;

type Envelope<T> = { message?: string; data: T; next?: string };

/** A zone may challenge programs that do not say what they are. */
const userAgent = 'fleet-data-service';

const reached = (url: string, init: RequestInit): Promise<Response> =>
  fetch(url, { ...init, headers: { 'user-agent': userAgent, ...init.headers } }).catch((error) => {
    const { message, code } = error.cause ?? error; // of several addresses, there is only a code
    const why = `${new URL(url).origin}: ${message || code}`.replace(/\.*$/, '.');
    throw new ApiError(`Cannot reach ${why} Is the service running? (npm start)`, {
      temporary: true,
    });
  });

async function envelope<T>(url: string, init: RequestInit): Promise<Envelope<T>> {
  const response = await reached(url, init);
  const { status, headers } = response;
  const reply = (await response.json().catch(() => {
    const message = `${new URL(url).origin} sent a ${status} reply that is not JSON`;
    throw new ApiError(message, { temporary: status >= 500 });
  })) as Envelope<T>; // what the service replies with
  const cells = status === 400 ? cellsNamed(response) : [];
  if (cells.length > 0)
    throw new ApiError(`Choose a cell with --cell or FLEET_CELL: ${cells.join(', ')}`, { cells });
  if (response.ok) return reply;
  throw new ApiError(`${status} ${reply.message ?? response.statusText}`, {
    temporary: [429, 502, 503, 504].includes(status),
    retryAfter: Number(headers.get('retry-after')),
  });
}

/** A longer wait is announced, with its reason. */
const silentSeconds = 60;

/** Repeats a call up to `maxTries` times while its failure is temporary. @throws ApiError */
export async function insist<T>(
  maxTries: number,
  call: () => Promise<T>,
  longestWaitMs = 60_000,
): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ApiError && error.reasons.temporary)) throw error;
      if (tries === maxTries)
        throw new ApiError(`${error.message}. Run the same command again to continue`);
      const { retryAfter = 0 } = error.reasons;
      const next = `The next try is in ${retryAfter} s`;
      if (retryAfter > silentSeconds) console.error(printable(`fleet: ${error.message}. ${next}`));
      await wait(retryAfter > 0 ? retryAfter * 1000 : Math.min(250 * 2 ** tries, longestWaitMs));
    }
}
