import * as v from 'valibot';
import { type Api, type Call, noSubdomain, noWorker, Stopped } from '../project/cloudflare.ts';
import type { Plan } from './plan.ts';

/*
 * Where a Worker is served. A deploy adds addresses and takes none away. So wrangler's configuration has no domain:
 * without a terminal it replaces DNS records and other Workers, and detaches earlier domains, before the new one works.
 */

const Domains = v.array(v.object({ id: v.string(), hostname: v.string(), service: v.string() }));
const Changes = v.object({ conflicting: v.array(v.unknown()) });
const Subdomain = v.object({ subdomain: v.string() });
const none = { subdomain: '' };
const Enabled = v.object({ enabled: v.boolean() });

/** The Worker's address: its domain, or one below workers.dev; a cell's is its router's. @throws Stopped */
export async function originOf(api: Api, { origin, cell, worker }: Plan): Promise<string> {
  if (cell && !origin)
    throw new Stopped(
      `The cell ${cell} has no address of its own: pass the router's host as --domain.`,
    );
  return origin ?? `https://${await hostAtWorkersDev(api, worker)}`;
}

async function hostAtWorkersDev(api: Api, worker: string): Promise<string> {
  const what = 'Looking for an address below workers.dev, without a --domain,';
  const { subdomain } = await api(what, Subdomain, '/workers/subdomain', {
    otherwise: noWorker(none),
  });
  if (!subdomain) throw new Stopped(`${what} failed: the account has none. ${noSubdomain}`);
  return `${worker}.${subdomain}.workers.dev`;
}

type Address = { host: string; end: [path: string, call: Call] };

/** All hosts that lead to a Worker, if there is one, each with the call that ends this. @throws Stopped */
export async function addressesOf(api: Api, worker: string): Promise<Address[]> {
  const what = `Looking for the addresses of ${worker}`;
  const path = `/workers/scripts/${worker}/subdomain`;
  const off = { body: { enabled: false, previews_enabled: false } };
  const [domains, { enabled }] = await Promise.all([
    api(what, Domains, '/workers/domains'),
    api(what, Enabled, path, { otherwise: noWorker({ enabled: false }) }),
  ]);
  const own = domains.filter(({ service }) => service === worker);
  const attached = own.map(
    ({ id, hostname }): Address => ({
      host: hostname,
      end: [`/workers/domains/${id}`, { method: 'DELETE' }],
    }),
  );
  return enabled
    ? [...attached, { host: await hostAtWorkersDev(api, worker), end: [path, off] }]
    : attached;
}

/** Has a host lead to a Worker as well, if it leads nowhere or to one of `from`. Returns whether this is new. @throws Stopped */
export async function attach(
  api: Api,
  worker: string,
  host: string,
  from: string[] | 'anything' = [],
): Promise<boolean> {
  const what = `Attaching ${host}`;
  const otherwise =
    'Choose another --domain, or add --take-over to have it lead to the service instead.';
  const domains = await api(what, Domains, '/workers/domains');
  const holder = domains.find(({ hostname }) => hostname === host)?.service;
  if (holder === worker) return false;
  const takeOver = from === 'anything';
  if (holder && !takeOver && !from.includes(holder))
    throw new Stopped(`${host} is a domain of the Worker ${holder}. ${otherwise}`);
  // Cloudflare detaches what is left out.
  const own = domains.filter(({ service }) => service === worker);
  const origins = [...own, { hostname: host }].map(({ hostname }) => ({ hostname }));
  const path = `/workers/scripts/${worker}/domains`;
  const { conflicting } = await api(what, Changes, `${path}/changeset?replace_state=true`, {
    body: origins,
  });
  if (conflicting.length > 0 && !takeOver)
    throw new Stopped(`${host} has DNS records of something else. ${otherwise}`);
  const body = {
    override_scope: true,
    override_existing_origin: holder !== undefined,
    override_existing_dns_record: takeOver,
    origins,
  };
  await api(what, v.unknown(), `${path}/records`, { method: 'PUT', body });
  return true;
}

/** Has a host no longer lead to a Worker. @throws Stopped */
export async function giveUp(api: Api, worker: string, host: string, origin: string | undefined) {
  const addresses = await addressesOf(api, worker);
  const found = addresses.find((one) => one.host === host);
  const hosts = addresses.map((one) => one.host).join(', ') || 'no host does';
  if (!found) throw new Stopped(`${host} does not lead to the Worker ${worker}: ${hosts}.`);
  if (origin === `https://${host}`)
    throw new Stopped(
      `${host} is the address of ${worker}. Deploy it with another --domain first, or none.`,
    );
  await api(`Giving up ${host}`, v.unknown(), ...found.end);
}
