import * as v from 'valibot';
import { must, Stopped, type Wrangler } from './wrangler.ts';

const Token = v.object({ token: v.string() });
const Refused = v.object({ errors: v.array(v.object({ message: v.string() })) });

/**
 * Has Cloudflare keep replicas of databases, by their ids: one in each region, or in each of the jurisdiction. Those
 * that have them already stay as they are. No command of wrangler does it.
 *
 * @throws Stopped
 */
export async function replicate(wrangler: Wrangler, account: string, databases: string[]): Promise<void> {
  const { out } = await must('Signing in to Cloudflare', wrangler(['auth', 'token', '--json']));
  const signedIn = v.safeParse(Token, JSON.parse(out));
  if (!signedIn.success)
    throw new Stopped('--replicas needs an API token, or `npx wrangler login`: global API keys do not do.');
  const base = process.env.CLOUDFLARE_API_BASE_URL || 'https://api.cloudflare.com/client/v4';
  for (const database of databases) {
    const reply = await fetch(`${base}/accounts/${account}/d1/database/${database}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${signedIn.output.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ read_replication: { mode: 'auto' } }),
    }).catch((error: Error) => new Response(JSON.stringify({ errors: [error] }), { status: 599 }));
    if (!reply.ok) throw new Stopped(refusal(reply.status, await reply.text()));
  }
}

function refusal(status: number, text: string): string {
  let told = `HTTP ${status}`;
  try {
    told =
      v
        .parse(Refused, JSON.parse(text))
        .errors.map(({ message }) => message)
        .join(' ') || told;
  } catch {
    // a page, not a reply of the API
  }
  return `Turning on read replication failed: ${told.replace(/\.?$/, '.')} The API token needs the permission D1 Edit. Run it again: it continues from here.`;
}
