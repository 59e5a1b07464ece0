import type { Database } from './database.ts';

/** Opens a D1 session for one request. Its reads may run on a replica. */
export const openSession = (session: Database['d1']): Database => ({ d1: session });

/** Opens the database for the service's own work; work for a caller uses `asCaller`. */
export const openDatabase = ({ DB: d1 }: Pick<Env, 'DB'>): Database => ({ d1 });
