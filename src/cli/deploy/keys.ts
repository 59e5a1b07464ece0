import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mainCell } from '../../platform/cells.ts';
import type { AccountContents } from './account.ts';
import type { Plan } from './plan.ts';
import { Stopped } from './wrangler.ts';

/** A secret that the Worker lacks, and the file that keeps it, readable only by its owner. */
export type Key = { secret: string; value: string; file: string };

const keys: { [secret: string]: { fileName: string; make: () => string } } = {
  OPERATOR_KEY: { fileName: 'operator.key', make: () => randomBytes(32).toString('base64url') },
  HEADER_KEYS: { fileName: 'header.keys', make: () => `k1:${randomBytes(32).toString('base64')}` },
};

export const operatorKeyFile = (folder: string): string => join(folder, 'operator.key');

/**
 * Returns the secrets that the Worker lacks: those that an unfinished deploy left in `folder`, otherwise new ones,
 * which are then kept there. Cloudflare reveals no secret, and rotating a key requires knowing it. Only the cell `main`
 * gets new HEADER_KEYS: others need the same, or an account could not move there.
 *
 * @throws Stopped, where a new key would be lost, or could not read the database
 */
export function keepMissing(
  folder: string,
  plan: Plan,
  found: Pick<AccountContents, 'database' | 'secrets'>,
): Key[] {
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
          `The Worker has no ${secret} yet, and one created here would be lost. Deploy once from your own machine.`,
        );
      if (secret === 'HEADER_KEYS' && found.database)
        throw new Stopped(
          `The database ${plan.database} already exists, and only its old keys can decrypt what it holds. ` +
            `Put its HEADER_KEYS into ${file}. If the database is empty, delete it instead: npx wrangler d1 delete ${plan.database}`,
        );
      const isShared = secret === 'HEADER_KEYS' && plan.cell !== undefined && plan.cell !== mainCell;
      const value = isShared ? keysOfOthers(folder, plan.origin, file) : key.make();
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, `${value}\n`, { mode: 0o600 });
      return { secret, value, file };
    });
}

/** HEADER_KEYS of a cell of the same public address that was deployed from here. @throws Stopped, if there is none */
function keysOfOthers(folder: string, origin: string | undefined, file: string): string {
  const deployed = dirname(folder);
  for (const name of existsSync(deployed) ? readdirSync(deployed) : []) {
    const [keys, configuration] = ['header.keys', 'wrangler.json'].map((one) => join(deployed, name, one));
    if (!keys || !configuration || !existsSync(keys) || !existsSync(configuration)) continue;
    if (JSON.parse(readFileSync(configuration, 'utf8')).vars?.ORIGIN === origin)
      return readFileSync(keys, 'utf8').trim();
  }
  throw new Stopped(
    `Cells share their HEADER_KEYS, and no other cell of ${origin} has been deployed from this machine. ` +
      `Put those of the cell ${mainCell} into ${file}.`,
  );
}
