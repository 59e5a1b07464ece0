declare namespace Cloudflare {
  interface Env {
    MIGRATIONS: import('cloudflare:test').D1Migration[];
  }
}

interface ImportMeta {
  /** Vite's: the modules that match, by their paths. */
  glob<T>(pattern: string, options: { eager: true }): Record<string, T>;
}
