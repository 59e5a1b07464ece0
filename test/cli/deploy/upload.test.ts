import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { upload } from '#src/cli/deploy/upload.ts';
import { type Api, apiAt, type Wrangler } from '#src/cli/project/cloudflare.ts';
import { askInstead, newAccount, newWorker } from '#test/support/node/cloudflare.ts';
import { readText, temporaryFolder } from '#test/support/node/index.ts';

const observability = {
  redact_query_string: true,
  issues: { enabled: false },
  logs: { enabled: true, invocation_logs: false },
  traces: { enabled: false },
};
const plain = {
  name: 'fleet',
  observability,
  compatibility_flags: [],
  logpush: true,
  analytics_engine_datasets: [],
};

const done = { ok: true, out: '', text: '' };
const failing = (text: string) => ({ ok: false, out: '', text });

/** An account with the Worker, and how to call it. */
function deployed(log: object = { logpush: true, observability }) {
  const account = newAccount();
  account.workers.set('fleet', { ...newWorker(), log });
  askInstead(account);
  const api: Api = apiAt(`/accounts/${account.id}`, {});
  return { account, api, log: () => account.workers.get('fleet')?.log };
}

it('what Cloudflare refuses and the service can do without is left out', async () => {
  const folder = temporaryFolder();
  const flag = 'queue_consumer_no_wait_for_wait_until';
  const configuration = {
    ...plain,
    compatibility_flags: ['global_fetch_strictly_public', flag],
    analytics_engine_datasets: [{ binding: 'ATTEMPTS', dataset: 'attempts' }],
  };
  const tried: string[] = [];
  const wrangler: Wrangler = async () => {
    const text = readText(folder, 'wrangler.json');
    tried.push(text);
    if (text.includes('ATTEMPTS')) return failing('enable Analytics Engine [code: 10089]');
    if (text.includes(flag)) return failing(`No such compatibility flag: ${flag}`);
    return JSON.parse(text).logpush ? failing('logpush_not_enabled [code: 10023]') : done;
  };
  const { api } = deployed({ observability });
  expect(await upload(api, wrangler, folder, configuration, [])).toEqual({
    version: 'v',
    consequences: [
      expect.stringContaining('has not turned on Analytics Engine'),
      expect.stringContaining(`does not know the flag ${flag}`),
      expect.stringContaining('Cloudflare refuses Logpush: this account is on Workers Free, or'),
    ],
  });
  expect(JSON.parse(tried.at(-1) ?? '')).toEqual({
    ...plain,
    logpush: false,
    compatibility_flags: ['global_fetch_strictly_public'],
  });
});

it('an upload that fails says so, and leaves no secrets behind', async () => {
  const folder = temporaryFolder();
  const secrets = join(folder, 'secrets.json');
  let given = false;
  const wrangler: Wrangler = async (args) => {
    given = args.includes(secrets) && existsSync(secrets);
    return failing('[ERROR] An unknown error has occurred. [code: 10013]');
  };
  const key = { secret: 'OPERATOR_KEY', value: 'key', file: join(folder, 'operator.key') };
  await expect(upload(deployed().api, wrangler, folder, plain, [key])).rejects.toThrow(
    /^Deploying the Worker failed: .*An unknown error.* run it again/,
  );
  expect(given).toBe(true);
  expect(existsSync(secrets)).toBe(false);
});

it.each([
  ['that Cloudflare knows a moment later is there after a second upload', 1],
  ['whose deploy fails for good has its keys all the same', 2],
])('a Worker %s', async (_, failures) => {
  const late = failing('Uploaded fleet (3.20 sec)\n[ERROR] It does not exist. [code: 10007]');
  const steps: string[] = [];
  const wrangler: Wrangler = async () => (steps.push('upload') - 1 > failures ? done : late);
  const uploading = upload(deployed().api, wrangler, temporaryFolder(), plain, [], () =>
    steps.push('told'),
  );
  if (failures === 1) await uploading;
  else await expect(uploading).rejects.toThrow(/does not exist.* and run it again/);
  expect(steps).toEqual(['upload', 'told', 'upload']);
});

it('what wrangler could not set of the log is set, so that no URL is logged', async () => {
  const leaking = { observability: { enabled: true, logs: { invocation_logs: true } } };
  const { account, api, log } = deployed(leaking);
  account.logpush = false;
  const { consequences } = await upload(api, async () => done, temporaryFolder(), plain, []);
  expect(consequences).toEqual([expect.stringContaining('Cloudflare refuses Logpush')]);
  expect(log()).toEqual({ observability });
});

it.each([
  ['traces', { traces: { enabled: true } }],
  ['Issues', { issues: { enabled: true } }],
  ['invocation logs', { logs: { enabled: true, invocation_logs: true } }],
  ['queries', { redact_query_string: false }],
  ['queries by default', { redact_query_string: undefined }],
])('a deploy fails while Cloudflare would log whole URLs, in %s', async (_, setting) => {
  const leaking = { observability: { ...observability, ...setting } };
  const { api } = deployed(leaking);
  await expect(
    upload(api, async () => done, temporaryFolder(), { ...plain, ...leaking }, []),
  ).rejects.toThrow('turn off invocation logs, traces and Issues of the Worker fleet');
});
