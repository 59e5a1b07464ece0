import { audit } from '../../core/accounts/audit/write.ts';
import type { Database } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { invalid } from '../../core/platform/errors.ts';
import { isStill, setOptions } from '../../core/webhooks/options.ts';
import { findRow } from '../../core/webhooks/stored.ts';
import { newSecret, sealSecret } from './secrets.ts';

/** Gives a webhook a new signing secret; the old one signs as well for 24 hours. @throws Refusal: invalid */
export async function rotateSecret(
  env: Env,
  caller: Caller,
  id: string,
): Promise<{ signingSecret: string }> {
  const found = await findRow(env, caller, id);
  if (!found) throw invalid('Invalid webhook id');
  const before = found.options.signing;
  if (!before) throw invalid('Deliveries of this webhook are not signed');
  const signingSecret = newSecret();
  const signing = await sealSecret(env, id, signingSecret, before);
  const isUnchanged = isStill(id, 'signing', before);
  const rotate = (db: Database) => ({
    audited: audit(db, caller, 'changed', 'webhooks', isUnchanged, ['signingSecret']),
    rotated: setOptions(db, { signing }, isUnchanged),
  });
  const { rotated } = await asCaller(env, caller, rotate);
  // Another rotation may have been faster: this one follows it.
  return rotated.meta.changes > 0 ? { signingSecret } : rotateSecret(env, caller, id);
}
