import * as v from 'valibot';
import { setUnits } from '../../accounts/accounts.ts';
import { auditDays } from '../../accounts/audit/prune.ts';
import { setPreferences } from '../../accounts/people.ts';
import { deadTokenDays } from '../../accounts/prune.ts';
import { sessionMs } from '../../accounts/sessions.ts';
import { keptMs as changesKeptMs } from '../../fleet/changes/prune.ts';
import { config } from '../../platform/config.ts';
import type { Context } from '../../platform/http/context.ts';
import { pausedAfterMs } from '../../webhooks/alerts/policy.ts';
import { findMailRule, type MailRule, setMailRule } from '../../webhooks/alerts/rules.ts';
import { levelOptions } from '../ui/accidents.tsx';
import { AskInstead, aRole } from '../ui/allowed.tsx';
import { dayMs } from '../ui/days.ts';
import { done, parseForm, readForm, submit } from '../ui/form.ts';
import { Choice, Choices, Form, type Offered, PostButton, Select, Submit } from '../ui/forms.tsx';
import { browserZoneOf, page } from '../ui/layout.tsx';
import { Facts, Note, Panel } from '../ui/parts.tsx';
import { isTimeZone, zoneName } from '../ui/time.tsx';

const path = '/portal/settings/account';
const unitsPath = `${path}/units`;
const notificationsPath = '/portal/settings/notifications';
const recordsPath = `${notificationsPath}/records`;

/** Settings, Account and Notifications: what the account is, and what is for the person who is signed in alone. */
export function show(c: Context) {
  const { user, account, units } = c.get('session');
  return page(
    c,
    { title: 'Account', tab: true },
    <>
      <Panel id="account" title="Account" body>
        <Facts
          facts={[
            ['Name', account],
            ['Account ID', <code>{user.accountId}</code>],
            ['You', `${user.email}, ${aRole(user.role)}`],
          ]}
        />
      </Panel>
      <ZoneForm chosen={user.timeZone ?? ''} browser={browserZoneOf(c)} />
      <Panel id="units" title="Units" side={<AskInstead to={unitsPath} what="change the units of all" />}>
        <Form to={unitsPath} look={`panel-body ${inOneLine}`}>
          <Select
            name="units"
            label="Show speeds and distances to everybody in"
            value={units}
            options={[
              ['metric', 'Kilometers'],
              ['imperial', 'Miles'],
            ]}
          />
          <Submit name="Save units" />
        </Form>
      </Panel>
      <Kept env={c.env} />
      <Panel id="sessions" title="Your sessions" body="grid gap-3 justify-items-start">
        <p>
          You stay signed in for {sessionMs / dayMs} days. If you have lost a device, or used one that is not
          yours, end all of your sessions. This one ends too.
        </p>
        <PostButton to="/portal/sign-out-everywhere" name="Sign out everywhere" icon="log-out" />
      </Panel>
    </>,
  );
}

/** A field with its button beside it. */
const inOneLine = 'grid gap-4 items-end sm:grid-cols-[minmax(0,24rem)_auto] sm:justify-start';

const ZoneForm = ({ chosen, browser }: { chosen: string; browser: string }) => (
  <Panel id="time-zone" title="Time zone">
    <Form to={path} look="panel-body grid gap-3">
      <div class={inOneLine}>
        <Select
          name="timeZone"
          label="Show times in"
          value={chosen}
          options={[['', `Your browser’s (${cityOf(browser)})`]]}
          groups={zonesByRegion()}
        />
        <Submit name="Save" />
      </div>
      <p class="hint">This is for you alone. CSV files have this time zone too. The API has times in UTC.</p>
    </Form>
  </Panel>
);

/** "New York", "Kentucky, Louisville"; a zone without a place as it is. */
const cityOf = (zone: string): string => zone.split('/').slice(1).join(', ').replaceAll('_', ' ') || zone;

/** All time zones by continent, UTC first. */
function zonesByRegion(): [region: string | undefined, zones: Offered[]][] {
  const zones = Intl.supportedValuesOf('timeZone').filter((name) => name.includes('/'));
  const regions = Map.groupBy(zones, (zone) => zone.split('/')[0]);
  return [...new Map([['Universal', ['UTC']]]), ...regions].map(([region, all]) => [
    region,
    all.map((zone) => [zone, cityOf(zone)]),
  ]);
}

const Kept = ({ env }: { env: Env }) => {
  const { hotDays, retentionMs } = config(env);
  return (
    <Panel id="kept" title="What is kept, and for how long" side={<a href="/docs/limits">Limits</a>} body>
      <Facts
        facts={[
          ['Vehicles and drivers', 'Until you ask us to delete them'],
          [
            'Trips, safety events, accidents',
            `Until you ask us to delete them${hotDays > 0 ? `; after ${hotDays} days in the archive, where lists still find them` : ''}`,
          ],
          ['Deliveries that have ended', `${retentionMs / dayMs} days`],
          ['Changes, for programs that follow them', `${changesKeptMs / dayMs} days`],
          ['Revoked and expired tokens', `${deadTokenDays} days`],
          ['The audit log', `${auditDays} days`],
        ]}
      />
    </Panel>
  );
};

const Zone = v.object({
  timeZone: v.pipe(
    v.string(),
    v.check((zone) => zone === '' || isTimeZone(zone), 'must be a time zone of the list'),
  ),
});

export const save = (c: Context) =>
  submit(
    c,
    async (form) => {
      const { timeZone } = parseForm(Zone, form);
      const { user } = c.get('session');
      await setPreferences(c.env, c.get('caller'), user.id, { timeZone: timeZone || null });
      return done(c, path, `Times are now in ${zoneName(timeZone || browserZoneOf(c))}.`);
    },
    () => show(c),
  );

export async function saveUnits(c: Context) {
  const units = (await readForm(c)).value('units') === 'imperial' ? 'imperial' : 'metric';
  await setUnits(c.env, c.get('caller'), units);
  return done(c, path, `Speeds and distances are now in ${units === 'metric' ? 'kilometers' : 'miles'}.`);
}

/** Which emails the person who is signed in gets. */
export async function showNotifications(c: Context) {
  const { id, email, getsAlerts } = c.get('session').user;
  const { rule, groups } = await findMailRule(c.env, c.get('caller'), id);
  return page(
    c,
    { title: 'Notifications', tab: true },
    <>
      {!config(c.env).emailFrom && (
        <Note mood="warn">
          <p>This deployment sends no email at all.</p>
        </Note>
      )}
      <RecordEmails rule={rule} groups={groups} email={email} />
      <Panel id="emails" title="Emails about webhooks">
        <Form to={notificationsPath} look="panel-body grid gap-4 justify-items-start">
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
        </Form>
      </Panel>
    </>,
  );
}

/** The form of which accidents and safety events the reader is emailed. */
const RecordEmails = (props: { rule: MailRule; groups: string[]; email: string }) => {
  const { rule, groups, email } = props;
  return (
    <Panel id="record-emails" title="Emails about accidents and safety events">
      <Form to={recordsPath} look="panel-body grid gap-4">
        <p>To {email}, within about a minute. On days with very many, those of a minute come in one email.</p>
        <Choices
          name="levels"
          legend="Accidents that reach"
          chosen={rule.levels.map(String)}
          options={levelOptions}
        />
        <Select
          name="risk"
          label="Safety events"
          value={String(rule.risk ?? '')}
          options={[
            ['', 'None'],
            ['5', 'Risk 5'],
            ['4', 'Risk 4 and 5'],
            ['3', 'Risk 3 to 5'],
          ]}
        />
        {groups.length > 0 && (
          <Choices
            name="groups"
            legend="Only of vehicles in these groups"
            columns={2}
            chosen={rule.groups ?? []}
            options={groups.map((group) => [group, group])}
            hint="With none chosen, of all vehicles. Accidents of vehicles that we do not know yet are always included."
          />
        )}
        <div>
          <Submit name="Save choice" />
        </div>
      </Form>
    </Panel>
  );
};

export async function saveRecordEmails(c: Context) {
  const { value, values } = await readForm(c);
  const risk = value('risk');
  const { id, email } = c.get('session').user;
  const groups = [...new Set(values('groups'))].slice(0, 100);
  const rule: MailRule = {
    levels: [1, 2, 3].filter((level) => values('levels').includes(String(level))),
    risk: /^[345]$/.test(risk) ? Number(risk) : null,
    groups: groups.length > 0 ? groups : null,
  };
  await setMailRule(c.env, c.get('caller'), id, rule);
  const asks = rule.levels.length > 0 || rule.risk !== null;
  return done(
    c,
    notificationsPath,
    asks ? `We email ${email} as chosen.` : `No emails about accidents or safety events to ${email}.`,
  );
}

export async function saveNotifications(c: Context) {
  const on = (await readForm(c)).value('alerts') === 'yes';
  const { id, email } = c.get('session').user;
  await setPreferences(c.env, c.get('caller'), id, { getsAlerts: on });
  return done(
    c,
    notificationsPath,
    on ? `We email ${email} about webhooks.` : `No more emails about webhooks to ${email}.`,
  );
}
