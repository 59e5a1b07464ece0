import { beforeEach, expect, it } from 'vitest';
import { deliveriesOf, settled } from '../../support/deliveries.ts';
import { ask, follow, formOn, signIn, textOf } from '../../support/portal.ts';
import { receiver } from '../../support/receiver.ts';
import { safetyEvent, vehicle } from '../../support/records.ts';
import { rows } from '../../support/rows.ts';
import { as, type WebhookOut, type World, webhookBody, world } from '../../support/world.ts';

let us: World;
let cookie: string;
let email: string;
beforeEach(async () => {
  receiver();
  us = await world();
  ({ cookie, email } = await signIn(us));
});

/** Sends a form, and returns what the page that follows says. */
const send = async (path: string, fields: Record<string, string> | [string, string][] = {}) =>
  follow(await ask('POST', path, { cookie, fields }), cookie);
const webhook = async () => {
  const { data } = await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us));
  return `/portal/webhooks/${data.id}`;
};

it('of changing a person’s role, and of removing them', async () => {
  await signIn(us, 'viewer');
  const [person] = await rows(
    "select id, email from portal_users where account_id = ? and role = 'viewer'",
    us.accountId,
  );
  const path = `/portal/settings/people/${person?.id}`;
  expect(await send(`${path}/role`, { role: 'member' })).toContain(`${person?.email} is now a member.`);
  expect(await send(`${path}/remove`)).toContain(
    `Removed ${person?.email}. They are signed out everywhere and can no longer sign in.`,
  );
});

it('of turning emails off and on', async () => {
  const path = '/portal/settings/notifications';
  expect(await send(path)).toContain(`No more emails about webhooks to ${email}.`);
  expect(await send(path, { alerts: 'yes' })).toContain(`We email ${email} about webhooks.`);
});

it('of saving a webhook', async () => {
  const path = await webhook();
  const form = await formOn(await ask('GET', `${path}/edit`, { cookie }));
  expect(await send(`${path}/edit`, form.fields())).toContain('Webhook "receiver.example.com" was saved.');
});

it('of replaying when there is nothing to replay', async () => {
  const path = await webhook();
  expect(await send(`${path}/replay`)).toContain('Nothing to replay.');
  await as(us.connection.ingestKey).send(vehicle(), safetyEvent());
  const id = path.split('/').at(-1) ?? '';
  await settled(id);
  const [delivery] = await deliveriesOf(id);
  await rows("update deliveries set status = 'pending', claimed_until = 1e15 where id = ?", delivery?.id);
  expect(await send(`${path}/deliveries/${delivery?.id}/replay`)).toContain(
    'Nothing to replay: it is on its way.',
  );
});

it('of signing out', async () => {
  const reply = await ask('POST', '/portal/sign-out', { cookie });
  const flash = reply.headers.getSetCookie().find((one) => one.startsWith('flash='));
  const page = await ask('GET', '/portal/sign-in', { cookie: flash?.split(';')[0] ?? '' });
  expect(await textOf(page)).toContain('You are signed out.');
});
