import { cellHeader, versionHeader } from '../../core/platform/cells.ts';
import { fingerprint } from '../../operator/api/schema.ts';
import type { Check } from '../../operator/api/service.ts';
import { insist, operatorOf, type Service } from '../operate/client.ts';
import { inText } from '../operate/print.ts';

/** What the service has found, and what a call from outside shows. */
type Row = Omit<Check, 'name'> & { name: Check['name'] | 'version' | 'plain HTTP' | 'programs' };

/** What to do when a check fails. */
const advice: Record<Row['name'], string> = {
  version: 'The former version still responds in places. Wait a minute, and check again.',
  'plain HTTP':
    'Turn on Always Use HTTPS for the zone, and replace credentials that were sent without it.',
  programs:
    'In the security settings of the zone, turn off Bot Fight Mode, and Browser Integrity Check for this host.',
  ingest: 'Look at the database in the dashboard, and check again.',
  plan: 'Choose the Workers Paid plan for the account: on Workers Free much of the service fails.',
  'queries of a batch': 'Check again.',
  'outgoing calls':
    'Please report this. Only the reason that attempts show for such hosts is wrong.',
  schema:
    'Run npm run deploy again: it applies what is missing. If it stops, restore the database.',
  database: 'Look at the database in the dashboard and at cloudflarestatus.com, then check again.',
  refusals:
    'Cloudflare has upgraded D1: its errors read differently. Update the service before you continue.',
  'scheduled jobs':
    'After a first deploy, wait a minute and check again. Otherwise look at the runs of the cron trigger.',
  replicas: 'Deploy with --replicas false until reads of replicas work.',
  archive:
    'Look at the bucket in the dashboard. Nothing is lost meanwhile: what is not archived stays in D1.',
  queue:
    'Look at the queue and its consumer in the dashboard. Deliveries wait in D1, and the sweep wakes them.',
  'background work':
    'Set the variable AWAIT_DELIVERIES to "true" in wrangler.toml and deploy: the consumer then awaits its work.',
  KV: 'Look at the namespace in the dashboard. Until it works, tokens are read from D1.',
  'Analytics Engine': 'Turn it on in the dashboard and deploy again.',
  email:
    'Add the domain of the sender under Email Service in the dashboard, and set its DNS records. Before, Cloudflare only sends to verified addresses.',
};

/** What to check besides. */
type Asked = {
  /** The entries that the schema must have. */
  entries: string[];
  /** The version that should respond. */
  version?: string | undefined;
  writes?: boolean;
  email?: string | undefined;
};

/** Checks a service, and prints results and advice. A fault fails the command. */
export async function checkService(
  service: Service,
  { entries, version, ...asked }: Asked,
): Promise<void> {
  const schema = await Promise.all(entries.map(fingerprint));
  const body = { schema, ...asked };
  const found = await insist(3, () => operatorOf(service).call('POST /check', { body }));
  const checks: Row[] = [...found, ...(await fromOutside(service, version))];
  const rows = checks.map(({ name, result, ms, detail }) => ({
    what: name,
    result,
    took: `${ms} ms`,
    found: detail,
  }));
  console.log(`Checked ${service.baseUrl}\n${inText(rows)}`);
  const wrong = checks.filter(({ result }) => result === 'fault' || result === 'warning');
  for (const name of new Set(wrong.map(({ name }) => name)))
    console.log(`! ${name}: ${advice[name]}`);
  if (checks.some(({ result }) => result === 'fault')) process.exitCode = 1;
}

/** Which version responds and where, and what becomes of plain HTTP, and of programs. */
async function fromOutside(
  { baseUrl, cell }: Service,
  version: string | undefined,
): Promise<Row[]> {
  const ask = async (url: string, headers: Record<string, string> = {}) => {
    const began = Date.now();
    const signal = AbortSignal.timeout(10_000);
    const reply = await fetch(url, { headers, redirect: 'manual', signal }).catch(() => undefined);
    const text = (await reply?.text().catch(() => '')) ?? '';
    return {
      status: reply?.status ?? 0,
      of: (name: string) => reply?.headers.get(name),
      text,
      began,
    };
  };
  const row = (name: Row['name'], result: Row['result'], began: number, detail: string): Row => ({
    ...{ name, result, ms: Date.now() - began, detail },
  });
  // A cell refuses this, but responds.
  const own = await ask(
    `${baseUrl}/${cell ? 'operator' : 'health'}`,
    cell ? { [cellHeader]: cell } : {},
  );
  const id = own.of(versionHeader) ?? 'unknown';
  const where = own.of('cf-placement') ?? 'near the client';
  const isOld = version !== undefined && version !== id;
  const rows = [row('version', isOld ? 'warning' : 'ok', own.began, `${id}, run ${where}`)];
  if (!baseUrl.startsWith('https:')) return rows;
  const plain = await ask(`${baseUrl.replace('https:', 'http:')}/health`);
  const isOpen = plain.status >= 200 && plain.status < 300;
  const python = await ask(`${baseUrl}/health`, { 'user-agent': 'Python-urllib/3.13' });
  const refusal = python.of('cf-mitigated') ?? /error code: \d+/.exec(python.text)?.[0];
  return [
    ...rows,
    row(
      'plain HTTP',
      isOpen ? 'fault' : 'ok',
      plain.began,
      `gets ${plain.status || 'no response'}`,
    ),
    row(
      'programs',
      refusal ? 'fault' : 'ok',
      python.began,
      refusal ?? 'get through, as one try shows',
    ),
  ];
}
