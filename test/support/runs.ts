import { env } from 'cloudflare:workers';

/** How often a property is tried: so often with `npm run proof`, and a fifth as often with `npm test`. */
export const runs = (full: number): number => (env.FULL_PROOF ? full : Math.ceil(full / 5));
