import type * as v from 'valibot';
import type { Slice, SliceQuery } from '../core/platform/db/cursor.ts';
import type { Caller } from '../core/platform/db/guard.ts';
import type { Operation } from './operation.ts';

/** Returns the input of the reply's schema, undefined for an unknown id, or a response. */
type Handler<O extends Operation, List extends string> = (
  request: Asked<O, List>,
) => Promise<Found<O> | Response | undefined>;

/** Handlers of operations by name; `List` is of what an extra has of accounts, besides the core's. */
export type Handlers<All extends Record<string, Operation>, List extends string = never> = {
  [name in keyof All]: Handler<All[name], List | CoreList>;
};

/** The core's lists whose items belong to accounts. */
export type CoreList = 'accounts' | 'connections' | 'tokens' | 'drivers' | 'vehicles' | 'webhooks';

type Asked<O extends Operation, List extends string> = { env: Env } & PathOf<O['call'], List> &
  (O extends { body: infer B extends v.GenericSchema } ? { body: v.InferOutput<B> } : unknown) &
  (O extends { query: infer Q extends v.GenericSchema } ? { query: v.InferOutput<Q> } : unknown) &
  (O extends { part: 'slice' } ? { slice: SliceQuery } : unknown);

/** If the path names something, the operator acts in the account that owns it. */
type PathOf<
  C extends string,
  Owned extends string,
> = C extends `${string} /${infer List}/:id${infer Rest}`
  ? { id: string } & (List extends Owned ? { caller: Caller } : unknown) &
      (Rest extends `${string}/:userId` ? { userId: string } : unknown)
  : unknown;

type Found<O extends Operation> =
  v.InferInput<O['reply']> extends (infer Item)[]
    ? O extends { part: 'slice' }
      ? Slice<Item>
      : Item[]
    : v.InferInput<O['reply']>;
