import { randomBytes } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { mainCell } from '../../core/platform/cells.ts';
import { Stopped } from '../project/cloudflare.ts';
import { localDirectory } from '../project/paths.ts';
import type { AccountContents } from './account.ts';
import type { Plan } from './plan.ts';

/** A secret that the Worker lacks, and the file that keeps it, readable only by its owner. */
export type Key = { secret: string; value: string; file: string };

const keys: { [secret: string]: [file: string, make: () => string] } = {
  OPERATOR_KEY: ['operator.key', () => randomBytes(32).toString('base64url')],
  ENCRYPTION_KEYS: ['encryption.keys', () => `k1:${randomBytes(32).toString('base64')}`],
};

export const folderOf = (account: string, worker: string) =>
  join(localDirectory, 'deploy', account, worker);

export const operatorKeyFile = (folder: string): string => join(folder, 'operator.key');

/** The secrets that the Worker lacks, as kept in `folder`, or else new ones. @throws Stopped */
export function keepMissing(
  folder: string,
  plan: Plan,
  found: Pick<AccountContents, 'database' | 'secrets'>,
): Key[] {
  const missing = plan.secrets.filter((secret) => !found.secrets.includes(secret));
  return missing.map((secret) => {
    const [fileName = '', make] = keys[secret] ?? [];
    if (!make)
      throw new Stopped(
        `The Worker needs the secret ${secret}. Set it: npx wrangler secret put ${secret} --name ${plan.worker}`,
      );
    const file = join(folder, fileName);
    if (existsSync(file)) return { secret, value: readFileSync(file, 'utf8').trim(), file };
    if (process.env.CI)
      throw new Stopped(
        `The Worker has no ${secret} yet, and one created here would be lost. Deploy once from your own machine.`,
      );
    const isEncryptionKeys = secret === 'ENCRYPTION_KEYS';
    if (isEncryptionKeys && found.database)
      throw new Stopped(
        `The database ${plan.database} already exists, and only its old keys can decrypt what it holds. ` +
          `Put its ENCRYPTION_KEYS into ${file}. If the database is empty, delete it instead: npx wrangler d1 delete ${plan.database}`,
      );
    // An account could not move between cells with others.
    const isShared = isEncryptionKeys && plan.cell !== undefined && plan.cell !== mainCell;
    const value = isShared ? keysOfOthers(folder, plan.origin, file) : make();
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, `${value}\n`, { mode: 0o600 });
    return { secret, value, file };
  });
}

/** Prints where the keys are that nobody else may have, once for each version of their files. */
export function remindToStore(folder: string, print: (text: string) => void): void {
  const reminded = join(folder, 'reminded');
  const remindedAt = existsSync(reminded) ? statSync(reminded).mtimeMs : 0;
  const lines = Object.entries(keys).flatMap(([secret, [fileName]]) => {
    const file = join(folder, fileName);
    const isNew = existsSync(file) && statSync(file).mtimeMs > remindedAt;
    return isNew ? `\n    ${relative(process.cwd(), file)}  ${secret}` : [];
  });
  if (lines.length === 0) return;
  print(`
  Store these in your team's password manager. Cloudflare never shows them again:${lines.join('')}
`);
  writeFileSync(reminded, '');
}

/** ENCRYPTION_KEYS of a cell at the same address that was deployed from here. @throws Stopped */
function keysOfOthers(folder: string, origin: string | undefined, file: string): string {
  const isOfOther = (keys: string) => {
    const configuration = join(dirname(keys), 'wrangler.json');
    return (
      existsSync(configuration) &&
      JSON.parse(readFileSync(configuration, 'utf8')).vars?.ORIGIN === origin
    );
  };
  const found = globSync(join(dirname(folder), '*/encryption.keys')).find(isOfOther);
  if (found) return readFileSync(found, 'utf8').trim();
  throw new Stopped(
    `Cells share their ENCRYPTION_KEYS, and no other cell of ${origin} has been deployed from this machine. ` +
      `Put those of the cell ${mainCell} into ${file}.`,
  );
}
