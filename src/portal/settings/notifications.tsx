import { Hono } from 'hono';
import { setPreferences } from '../../accounts/people.ts';
import { config } from '../../platform/config.ts';
import type { App, Context } from '../../platform/http/context.ts';
import { pausedAfterMs } from '../../webhooks/alerts/policy.ts';
import { needs } from '../session/rights.ts';
import { done } from '../ui/flash.ts';
import { readForm } from '../ui/form.ts';
import { Choice, Submit } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Note, Panel } from '../ui/parts.tsx';

/** Settings, Notifications: which emails the person who is signed in gets. */
export const notificationPages = new Hono<App>()
  .get('/settings/notifications', needs('viewer'), show)
  .post('/settings/notifications', needs('viewer'), save);

const path = '/portal/settings/notifications';

function show(c: Context) {
  const { email, getsAlerts } = c.get('session').user;
  return page(
    c,
    { title: 'Notifications', tab: true },
    <>
      {!config(c.env).emailFrom && (
        <Note mood="warn">
          <p>This deployment sends no email at all.</p>
        </Note>
      )}
      <Panel id="emails" title="Emails about webhooks">
        <form class="panel-body grid gap-4 justify-items-start" method="post" action={path}>
          <p>
            {getsAlerts
              ? `We email ${email} when something is wrong with a webhook.`
              : `We do not email ${email} about webhooks.`}
          </p>
          <Choice
            type="checkbox"
            name="alerts"
            value="yes"
            checked={getsAlerts}
            label="Email me when a webhook is paused, when deliveries have failed, and when it works again"
            note={`Once a webhook has been paused for ${pausedAfterMs / 60_000} minutes, and at most once an hour for each webhook and reason. This setting is for you alone.`}
          />
          <Submit name="Save" />
        </form>
      </Panel>
    </>,
  );
}

async function save(c: Context) {
  const on = (await readForm(c)).value('alerts') === 'yes';
  const { id, email } = c.get('session').user;
  await setPreferences(c.env, c.get('caller'), id, { getsAlerts: on });
  return done(
    c,
    path,
    on ? `We email ${email} about webhooks.` : `No more emails about webhooks to ${email}.`,
  );
}
