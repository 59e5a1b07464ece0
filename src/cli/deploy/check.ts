import { fingerprint } from '../../operator/api/schema.ts';
import type { Check } from '../../operator/api/service.ts';
import { insist, operatorOf, type Service } from '../operate/client.ts';
import { tableOf } from '../operate/print.ts';
import { expectedSchema } from './schema.ts';

/** What to do when a check fails. */
const advice: Record<Check['name'], string> = {
  schema: 'Run npm run deploy again: it applies what is missing. If it stops, restore the database.',
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
  email: 'Deploy with --email-from.',
};

/** Checks a service's dependencies, and prints results and advice. A fault fails the command. */
export async function checkService(service: Service): Promise<void> {
  const schema = await Promise.all(expectedSchema().map(fingerprint));
  const checks = await insist(3, () => operatorOf(service).call('POST /check', { body: { schema } }));
  const rows = checks.map(({ name, result, ms, detail }) => [name, result, `${ms} ms`, detail]);
  console.log(`Checked ${service.baseUrl}\n${tableOf(rows, ['what', 'result', 'took', 'found'])}`);
  const wrong = checks.filter(({ result }) => result === 'fault' || result === 'warning');
  for (const name of new Set(wrong.map(({ name }) => name))) console.log(`! ${name}: ${advice[name]}`);
  if (checks.some(({ result }) => result === 'fault')) process.exitCode = 1;
}
