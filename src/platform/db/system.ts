import { drizzle } from 'drizzle-orm/d1';
import { oncePer } from '../remembered.ts';
import type { Database } from './database.ts';

const opened = oncePer((d1: D1Database): Database => drizzle(d1));

/** Opens a D1 session for one request. Its reads may run on a replica. */
export const openSession = (session: Pick<D1Database, 'prepare' | 'batch'>): Database =>
  drizzle(session as D1Database); // which uses no more of it

/** Opens the database for the service's own work, once per isolate; work for a caller uses `asCaller`. */
export const openDatabase = ({ DB: d1 }: Pick<Env, 'DB'>): Database => opened(d1);
