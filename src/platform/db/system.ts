import { drizzle } from 'drizzle-orm/d1';
import { oncePer } from '../once.ts';
import type { Database } from './database.ts';
import { retrying } from './retry.ts';

const opened = oncePer((d1: D1Database): Database => drizzle(retrying(d1)));

/**
 * Opens the database for the service's own work: credentials, deliveries, cron jobs, operators' reports. Work for a
 * caller uses `asCaller` instead. Opened once per isolate: it holds nothing of a request.
 */
export const openDatabase = ({ DB: d1 }: Pick<Env, 'DB'>): Database => opened(d1);
