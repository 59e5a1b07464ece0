import { changeConnection, issueToken, register } from '#test/support/world.ts';
import { added, type Ids } from './added.ts';
import { settled } from './deliveries.ts';
import { signIn } from './portal.ts';
import { receiver } from './receiver.ts';
import { accident, driver, safetyEvent, trip, vehicle } from './records.ts';
import { portalRoutes } from './routes.ts';
import { rows, value } from './rows.ts';
import { type Hook, openedBefore, operator, world } from './world.ts';

/** An account with something called `mark` behind every page, and an admin who is signed in. */
export async function portalAccount(mark = 'Marked') {
  const hooks = receiver(() => new Response(mark, { status: 410 }));
  const us = await world();
  const admin = await signIn(us);
  const startedAt = new Date().toISOString();
  await changeConnection(us.connection.id, { name: mark, tSP: mark });
  const token = await issueToken(us.accountId, { name: mark });
  const users = `/operator/accounts/${us.accountId}/users`;
  const invited = { email: `invited-${us.accountId}@example.com` };
  const person = await operator.post<{ id: string }>(users, invited);
  const url = `https://receiver.example.com/${mark}`;
  const webhook = await register(us, { url, headers: { 'X-Secret': mark } });
  await rows('update webhooks set name = ?1, description = ?1 where id = ?2', mark, webhook.id);
  await us.send(
    vehicle({ name: mark, vin: mark, groups: [mark], licensePlate: mark }),
    driver({ name: mark }),
    trip({ startedAt, driver: 'driver-1', startLocation: { latitude: 1, longitude: 2 } }),
    safetyEvent({ startedAt, driver: 'driver-1', trip: 'trip-1', incidentTypes: [mark] }),
    accident({ vin: mark, eventTime: startedAt, reportUrl: `https://reports.example.com/${mark}` }),
  );
  await settled(webhook.id, 2);
  const only = (table: string) =>
    value<string>(`select id from ${table} where account_id = ?1`, us.accountId);
  const ids: Ids = {
    tokens: token.id,
    people: person.data.id,
    webhooks: webhook.id,
    connections: us.connection.id,
    events: await only('safety_events'),
    accidents: await only('accidents'),
    vehicles: await only('vehicles'),
    drivers: await only('drivers'),
    trips: await only('trips'),
  };
  for (const one of added) Object.assign(ids, await one.mark?.({ mark, us, hooks, admin, ids }));
  return {
    us,
    hooks,
    webhook,
    ...admin,
    /** The path of a route, with ids of this account. */
    at: (route: string) =>
      route
        .replace(/(\w+)\/:(?:id|eventId)/, (_, kind) => `${kind}/${ids[kind]}`)
        .replaceAll(/:\w+/g, (parameter) => ids[parameter] ?? parameter),
  };
}

export type PortalAccount = Awaited<ReturnType<typeof portalAccount>>;

export const portalAccountBefore = (hook: Hook, mark?: string): PortalAccount =>
  openedBefore(hook, () => portalAccount(mark));

const open = added.flatMap((one) => one.open ?? []);
/** What people who are signed in can reach. `/page-version` checks for itself. */
export const personalRoutes = portalRoutes.filter(
  (route) => !/ \/portal\/(sign-in|page-version)/.test(route) && !open.includes(route),
);
/** The paths of the pages among these. */
export const personalPages = personalRoutes
  .filter((route) => route.startsWith('GET '))
  .map((route) => route.slice(4));
