import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Wrangler } from '../../../src/cli/deploy/cloudflare.ts';
import { upload, waitForHealth } from '../../../src/cli/deploy/upload.ts';
import { temporaryFolder } from '../../support/node/folder.ts';

it('what Cloudflare refuses and the service can do without is left out, one after the other', async () => {
  const folder = temporaryFolder();
  const flag = 'queue_consumer_no_wait_for_wait_until';
  const configuration = {
    compatibility_flags: ['global_fetch_strictly_public', flag],
    analytics_engine_datasets: [{ binding: 'ATTEMPTS', dataset: 'attempts' }],
  };
  const tried: string[] = [];
  const wrangler: Wrangler = async () => {
    const text = readFileSync(join(folder, 'wrangler.json'), 'utf8');
    tried.push(text);
    if (text.includes('ATTEMPTS'))
      return { ok: false, out: '', text: 'enable Analytics Engine [code: 10089]' };
    const ok = !text.includes(flag);
    return { ok, out: '', text: ok ? '' : `No such compatibility flag: ${flag}` };
  };
  expect(await upload(wrangler, folder, configuration, [])).toEqual([
    expect.stringContaining('has not turned on Analytics Engine'),
    expect.stringContaining(`does not know the flag ${flag}`),
  ]);
  expect(JSON.parse(tried.at(-1) ?? '')).toEqual({
    compatibility_flags: ['global_fetch_strictly_public'],
    analytics_engine_datasets: [],
  });
});

it('an upload that fails says so, and leaves no secrets behind', async () => {
  const folder = temporaryFolder();
  const secrets = join(folder, 'secrets.json');
  let given = false;
  const wrangler: Wrangler = async (args) => {
    given = args.includes(secrets) && existsSync(secrets);
    return { ok: false, out: '', text: '[ERROR] An unknown error has occurred. [code: 10013]' };
  };
  const key = { secret: 'OPERATOR_KEY', value: 'key', file: join(folder, 'operator.key') };
  const configuration = { compatibility_flags: [], analytics_engine_datasets: [] };
  await expect(upload(wrangler, folder, configuration, [key])).rejects.toThrow(
    /^Deploying the Worker failed: .*An unknown error.* run it again/,
  );
  expect(given).toBe(true);
  expect(existsSync(secrets)).toBe(false);
});

it('a router is healthy once it responds itself, and knows all cells', async () => {
  onTestFinished(() => void vi.unstubAllGlobals());
  const replies = [undefined, 'main', 'eu, main'].map((cells) =>
    Response.json({}, { headers: { 'X-Request-Id': 'r', ...(cells && { 'Fleet-Cell': cells }) } }),
  );
  vi.stubGlobal('fetch', async () => replies.shift());
  expect(await waitForHealth('https://api.example.com', 10_000, ['main', 'eu'])).toBeUndefined();
  expect(replies).toEqual([]);
});
