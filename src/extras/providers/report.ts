import { and, eq } from 'drizzle-orm';
import { unseal } from '../../core/platform/crypto.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { recordId } from '../../core/platform/db/ids.ts';
import { connections } from '../../core/platform/db/schema/accounts.ts';
import { accessTo } from './connect.ts';
import { isWithdrawn } from './connected.ts';
import { adviceFor, ProviderError } from './connector/connector.ts';
import { connectorOf } from './registry.ts';
import { pulls } from './tables.ts';

type Accident = {
  eventId: string;
  connectionId: string;
  eventTime: string;
  reportUrl: string | null;
};

/** A link to an accident's report that can be opened now, or why there is none, as a sentence. */
export async function findReport(
  env: Env,
  caller: Caller,
  { eventId, connectionId, eventTime, reportUrl }: Accident,
): Promise<{ link: string } | { missing: string }> {
  const [pull] = await asCaller(env, caller, (db) =>
    db
      .select({
        provider: connections.provider,
        secrets: pulls.secrets,
        baseUrl: pulls.baseUrl,
        isEnded: isWithdrawn(connections.id).as('ended'),
      })
      .from(pulls)
      .innerJoin(connections, eq(connections.id, pulls.connectionId))
      .where(and(eq(pulls.connectionId, connectionId), eq(pulls.accountId, caller.accountId))),
  );
  const connector = pull && connectorOf(pull.provider);
  if (!pull || !connector?.reportLink)
    return reportUrl ? { link: reportUrl } : { missing: 'There is no report.' };
  if (pull.isEnded) return { missing: 'The consent to this connection was withdrawn.' };
  try {
    const { credential = '' } = await unseal(env, connectionId, pull.secrets);
    const api = connector.open(accessTo(env, connector, { credential, baseUrl: pull.baseUrl }));
    const isIts = (id: unknown) => recordId(connectionId, 'accident', String(id)) === eventId;
    const link = await connector.reportLink(api, { at: Date.parse(eventTime), isIts });
    return link ? { link } : { missing: `${connector.name} no longer has this report.` };
  } catch (error) {
    if (error instanceof ProviderError) return { missing: adviceFor(connector, error, false) };
    throw error;
  }
}
