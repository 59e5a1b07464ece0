declare namespace Cloudflare {
  interface Env {
    /** `1` for proofs at full size. */
    FULL_PROOF: string;
    MIGRATIONS: import('cloudflare:test').D1Migration[];
    /** Stands for a replica of DB, in the project `worker`. */
    REPLICA: D1Database;
    /** Of another cell, in the project `worker`. */
    DB_EU: D1Database;
    ARCHIVE_EU: R2Bucket;
  }
}

interface ImportMeta {
  /** Vite's: the modules that match, by their paths. */
  glob<T>(
    pattern: string,
    options: { eager: true; query?: '?raw'; import?: 'default' },
  ): Record<string, T>;
}

declare module '*?raw' {
  const text: string;
  export default text;
}
