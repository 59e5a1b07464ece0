import * as v from 'valibot';
import { type Api, granted } from './api.ts';
import type { Plan } from './plan.ts';
import { Stopped } from './wrangler.ts';

/** Cloudflare's code for an account that has not chosen its address yet. */
const noSubdomain = 10_007;

/** The address that the Worker has or will have: its domain, or that below the account's own. @throws Stopped */
export async function originOf(api: Api, account: string, plan: Plan): Promise<string> {
  if (plan.origin) return plan.origin;
  const answer = await api('/workers/subdomain');
  if (answer.codes.includes(noSubdomain))
    throw new Stopped(
      'This account has no address below workers.dev yet. Deploy to a --domain, or choose one at ' +
        `https://dash.cloudflare.com/${account}/workers/onboarding, and run it again.`,
    );
  const found = await granted('Looking for the address', v.object({ subdomain: v.string() }), answer);
  return `https://${plan.worker}.${found.subdomain}.workers.dev`;
}
