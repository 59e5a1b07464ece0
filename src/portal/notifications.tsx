import { Hono } from 'hono';
import { setAlerts } from '../accounts/people.ts';
import { pausedAfterMs } from '../alerts/policy.ts';
import { config } from '../config.ts';
import type { App, Context } from '../http/context.ts';
import { seeOther } from '../http/redirect.ts';
import { readForm } from './form.ts';
import { page } from './layout.tsx';

/** Settings, Notifications: which emails the person who is signed in gets. */
export const notificationPages = new Hono<App>()
  .get('/settings/notifications', show)
  .post('/settings/notifications', save);

function show(c: Context) {
  const { email, getsAlerts } = c.get('session').user;
  return page(
    c,
    'Notifications',
    <>
      <p>
        {getsAlerts
          ? `We email ${email} when something is wrong with a webhook.`
          : `We do not email ${email} about webhooks.`}
        {!config(c.env).emailFrom && ' This deployment sends no email at all.'}
      </p>
      <form method="post">
        <label>
          <input
            type="checkbox"
            name="alerts"
            value="yes"
            checked={getsAlerts}
            aria-describedby="alerts-note"
          />
          Email me when a webhook is paused, when deliveries have failed, and when it works again
        </label>
        <p>
          <small id="alerts-note">
            We email you once a webhook has been paused for {pausedAfterMs / 60_000} minutes, and at most once
            an hour for each webhook and reason. This setting is for you alone.
          </small>
        </p>
        <button type="submit">Save</button>
      </form>
    </>,
  );
}

async function save(c: Context) {
  const form = await readForm(c);
  await setAlerts(c.env, c.get('caller'), c.get('session').user.id, form.value('alerts') === 'yes');
  return seeOther(c, '/portal/settings/notifications');
}
