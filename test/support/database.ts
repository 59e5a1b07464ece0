import { through } from '#src/core/platform/db/through.ts';

export { transaction } from '#src/core/platform/db/database.ts';
export { openDatabase } from '#src/core/platform/db/system.ts';
export { through };

/** A database of which every call fails, as D1 does when it has too much to do. */
export const overloaded = (db: D1Database): D1Database =>
  through(db, () =>
    Promise.reject(new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.')),
  );
