import { and, eq, exists, lte, sql } from 'drizzle-orm';
import { audit } from '../../core/accounts/audit/write.ts';
import { transaction } from '../../core/platform/db/database.ts';
import { ofActiveAccount } from '../../core/platform/db/guard.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { dayMs } from '../../core/platform/durations.ts';
import { auditedSettings, signInDomains } from './tables.ts';

/** How long after DNS last named the account a domain is checked again, then how often, and when it expires. */
export const proof = { checkedAfterMs: 7 * dayMs, repeatedMs: dayMs, expiresMs: 14 * dayMs };

/** A domain whose proof is checked again. */
type DueDomain = { accountId: string; domain: string; provenAt: number };

/** Proven domains whose DNS is to be asked again. */
export function domainsToCheck(env: Env, now: number, limit: number): Promise<DueDomain[]> {
  const db = openDatabase(env);
  return transaction(
    db,
    db
      .select({
        accountId: signInDomains.accountId,
        domain: signInDomains.domain,
        provenAt: sql<number>`${signInDomains.provenAt}`,
      })
      .from(signInDomains)
      .where(
        and(
          lte(signInDomains.provenAt, now - proof.checkedAfterMs),
          lte(signInDomains.checkedAt, now - proof.repeatedMs),
          ofActiveAccount(sql`${signInDomains.accountId}`),
        ),
      )
      .limit(limit),
  );
}

/** Until when a domain counts as proven: DNS that does not respond is no other than DNS without the record. */
export const provenAfter = (provenAt: number, isFound: boolean, now: number): number | null =>
  isFound ? now : now - provenAt >= proof.expiresMs ? null : provenAt;

/** Records what DNS says of domains. */
export async function noteChecks(
  env: Env,
  checks: (DueDomain & { isFound: boolean })[],
  now: number,
): Promise<void> {
  if (checks.length === 0) return;
  const db = openDatabase(env);
  const statements = checks.flatMap(({ accountId, domain, provenAt, isFound }) => {
    const service = { service: true as const, accountId };
    const next = provenAfter(provenAt, isFound, now);
    const which = and(
      eq(signInDomains.accountId, accountId),
      eq(signInDomains.domain, domain),
      eq(signInDomains.provenAt, provenAt),
      ofActiveAccount(sql`${accountId}`),
    );
    const found = db.select({ domain: signInDomains.domain }).from(signInDomains).where(which);
    return [
      next === null
        ? audit(db, service, 'changed', auditedSettings, exists(found), [
            `no longer proven: ${domain}`,
          ])
        : undefined,
      db.update(signInDomains).set({ provenAt: next, checkedAt: now }).where(which),
    ];
  });
  await transaction(db, statements);
}
