import { env } from 'cloudflare:workers';

/** How often a property is tried with `npm run proof -- --full`; a fifth as often with `npm test`. */
export const runs = (full: number): number => (env.FULL_PROOF ? full : Math.ceil(full / 5));
