import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Found } from './account.ts';
import type { Plan } from './plan.ts';
import { Stopped } from './wrangler.ts';

/** A secret that the Worker lacks, and the file that keeps it, for its owner's eyes alone. */
export type Key = { secret: string; value: string; file: string };

const keys: { [secret: string]: { fileName: string; make: () => string } } = {
  OPERATOR_KEY: { fileName: 'operator.key', make: () => randomBytes(32).toString('base64url') },
  HEADER_KEYS: { fileName: 'header.keys', make: () => `k1:${randomBytes(32).toString('base64')}` },
};

/** Where an operator finds the key of a deployment that was made from this folder. */
export const operatorKeyFile = (folder: string): string => join(folder, 'operator.key');

/**
 * The secrets that the Worker lacks: those that `folder` keeps from a run that did not get far enough, else new
 * ones, which `folder` keeps from now on. Cloudflare shows a secret to nobody, and keys must be known to rotate.
 *
 * @throws Stopped where new keys would be lost, or would lock away what the database holds
 */
export function keepMissing(folder: string, plan: Plan, found: Found): Key[] {
  return plan.secrets
    .filter((secret) => !found.secrets.includes(secret))
    .map((secret) => {
      const key = keys[secret];
      if (!key)
        throw new Stopped(
          `The Worker needs the secret ${secret}. Set it: npx wrangler secret put ${secret} --name ${plan.worker}`,
        );
      const file = join(folder, key.fileName);
      if (existsSync(file)) return { secret, value: readFileSync(file, 'utf8').trim(), file };
      if (process.env.CI)
        throw new Stopped(
          `The Worker has no ${secret} yet, and one made here would be lost. Deploy once from a machine of your own.`,
        );
      if (secret === 'HEADER_KEYS' && found.database)
        throw new Stopped(
          `The database ${plan.database} is there already, and what is sealed in it opens only with its old keys. ` +
            `Put its HEADER_KEYS into ${file}; if it is empty, delete it: npx wrangler d1 delete ${plan.database}`,
        );
      const value = key.make();
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, `${value}\n`, { mode: 0o600 });
      return { secret, value, file };
    });
}
