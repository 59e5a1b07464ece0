import type * as v from 'valibot';
import type { Slice, SliceQuery } from '../core/platform/db/cursor.ts';
import type { Caller } from '../core/platform/db/guard.ts';
import type { Operation } from './api/operation.ts';

/** What an id in a path below `/operator` identifies, by the list before it. */
export const owned = {
  accounts: 'account',
  channels: 'channel',
  'connect-links': 'link',
  connections: 'connection',
  tokens: 'token',
  drivers: 'driver',
  vehicles: 'vehicle',
  webhooks: 'webhook',
} as const;

/** Returns the input of the reply's schema, undefined for an unknown id, or a response. */
type Handler<O extends Operation> = (request: Asked<O>) => Promise<Found<O> | Response | undefined>;

export type Handlers<All extends Record<string, Operation>> = {
  [name in keyof All]: Handler<All[name]>;
};

export type Asked<O extends Operation> = { env: Env } & PathOf<O['call']> &
  (O extends { body: infer B extends v.GenericSchema } ? { body: v.InferOutput<B> } : unknown) &
  (O extends { query: infer Q extends v.GenericSchema } ? { query: v.InferOutput<Q> } : unknown) &
  (O extends { part: 'slice' } ? { slice: SliceQuery } : unknown);

/** If the path names something, the operator acts in the account that owns it. */
type PathOf<C extends string> = C extends `${string} /${infer List}/:id${infer Rest}`
  ? { id: string } & (List extends keyof typeof owned ? { caller: Caller } : unknown) &
      (Rest extends `${string}/:userId` ? { userId: string } : unknown)
  : unknown;

type Found<O extends Operation> =
  v.InferInput<O['reply']> extends (infer Item)[]
    ? O extends { part: 'slice' }
      ? Slice<Item>
      : Item[]
    : v.InferInput<O['reply']>;
