import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';

/*
 * The tables that no resource of `fleet/` declares, as far as queries or moves need their columns. They mirror
 * `migrations/`, which hold; a test compares the two. Times are milliseconds since 1970, UTC.
 */
export * from './tables/accounts.ts';
export * from './tables/deliveries.ts';
export * from './tables/fleet.ts';
export * from './tables/upkeep.ts';

/** A table whose rows belong to an account. */
export type AccountTable = SQLiteTable & { id: SQLiteColumn; accountId: SQLiteColumn };
