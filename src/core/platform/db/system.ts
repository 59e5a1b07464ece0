import { drizzle } from 'drizzle-orm/d1';
import type { Database } from './drizzle.ts';

/** Opens a D1 session for one request. Its reads may run on a replica. */
export const openSession = (session: Database['$client']): Database =>
  drizzle(session as D1Database); // which uses no more of it

/** Opens the database for the service's own work; work for a caller uses `asCaller`. */
export const openDatabase = ({ DB }: Pick<Env, 'DB'>): Database => drizzle(DB);
