import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { upload } from '../../../src/cli/deploy/upload.ts';
import type { Wrangler } from '../../../src/cli/deploy/wrangler.ts';

it('an upload that fails says so, and leaves no secrets behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-upload-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const secrets = join(folder, 'secrets.json');
  let given = false;
  const wrangler: Wrangler = async (args) => {
    given = args.includes(secrets) && existsSync(secrets);
    return { ok: false, out: '', text: '[ERROR] An unknown error has occurred. [code: 10013]' };
  };
  const key = { secret: 'OPERATOR_KEY', value: 'key', file: join(folder, 'operator.key') };
  await expect(upload(wrangler, join(folder, 'wrangler.json'), folder, [key])).rejects.toThrow(
    /^Deploying the Worker failed: .*An unknown error.* run it again/,
  );
  expect(given).toBe(true);
  expect(existsSync(secrets)).toBe(false);
});
