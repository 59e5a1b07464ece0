import { setPreferences } from '../../accounts/people.ts';
import { config } from '../../platform/config.ts';
import type { Context } from '../../platform/http/context.ts';
import type { ChannelKind } from '../../webhooks/alerts/channel-input.ts';
import { maxChannels } from '../../webhooks/alerts/channel-queue.ts';
import { type Channel, listChannels } from '../../webhooks/alerts/channels.ts';
import { pausedAfterMs } from '../../webhooks/alerts/policy.ts';
import { findMailRule, type MailRule, setMailRule } from '../../webhooks/alerts/rules.ts';
import { levelOptions } from '../ui/accidents.tsx';
import { LinkButton, Submit } from '../ui/buttons.tsx';
import { done, readForm } from '../ui/form.ts';
import { capital } from '../ui/format.ts';
import { Choice, Choices, Form, Select } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Empty, Note, Panel } from '../ui/parts.tsx';
import type { SentForm } from '../ui/reader.ts';
import { State } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';

export const notificationsPath = '/portal/settings/notifications';
export const channelsPath = `${notificationsPath}/channels`;
const recordsPath = `${notificationsPath}/records`;

/** Settings, Notifications: the reader's emails, and the account's channels. */
export async function showNotifications(c: Context) {
  const { id, email, getsAlerts } = c.get('session').user;
  const [{ rule, groups }, channels] = await Promise.all([
    findMailRule(c.env, c.get('caller'), id),
    listChannels(c.env, c.get('caller')),
  ]);
  return page(
    c,
    { title: 'Notifications', tab: true },
    <>
      {!config(c.env).emailFrom && (
        <Note mood="warn">
          <p>This deployment sends no email.</p>
        </Note>
      )}
      <RecordEmails rule={rule} groups={groups} email={email} />
      <Panel id="emails" title="Emails about webhooks and connections">
        <Form to={notificationsPath} look="panel-body grid gap-4 justify-items-start">
          <p>
            {getsAlerts
              ? `We email ${email} when something is wrong with a webhook or a connection.`
              : `We do not email ${email} about webhooks and connections.`}
          </p>
          <Choice
            type="checkbox"
            name="alerts"
            value="yes"
            checked={getsAlerts}
            label="Email me when a webhook is paused, deliveries have failed or a connection is unavailable, and when it works again"
            note={`After ${pausedAfterMs / 60_000} minutes, and at most once an hour for each webhook or connection and reason. This setting applies to you only.`}
          />
          <Submit name="Save" />
        </Form>
      </Panel>
      <Channels channels={channels} />
    </>,
  );
}

const Channels = ({ channels }: { channels: Channel[] }) => (
  <Panel
    id="channels"
    title="Team channels"
    side={<LinkButton href={`${channelsPath}/new`} name="Add a channel" small />}
  >
    {channels.length === 0 ? (
      <Empty icon="send" title="No channels yet">
        Notify your team in Slack, in Microsoft Teams or at any HTTPS endpoint. A channel is for the whole
        account, which can have up to {maxChannels}.
      </Empty>
    ) : (
      <Table caption="Team channels" stacked columns={channelColumns} items={channels} />
    )}
  </Panel>
);

export const kindNames: { [kind in ChannelKind]: string } = {
  slack: 'Slack',
  teams: 'Microsoft Teams',
  https: 'HTTPS endpoint',
};

const channelColumns: Column<Channel>[] = [
  {
    head: 'Name',
    look: 'card-title',
    cell: ({ name }) => <strong class="font-medium break-words">{name}</strong>,
  },
  { head: 'Kind', cell: ({ kind }) => kindNames[kind] },
  {
    head: 'Address',
    cell: ({ host, lastFour }) => (
      <code class="break-all">
        {host} …{lastFour}
      </code>
    ),
  },
  {
    head: 'Last message',
    cell: ({ problem, problemAt }) =>
      problem === null ? (
        <State mood="ok">No problem</State>
      ) : (
        <>
          <State mood="bad">Failed</State>
          <span class="sub block break-words">
            {capital(problem)}, <Ago at={problemAt ?? 0} />
          </span>
        </>
      ),
  },
  {
    head: 'Action',
    hideHead: true,
    look: 'end',
    cell: ({ id, name }) => <LinkButton href={`${channelsPath}/${id}`} name="Open" about={name} small />,
  },
];

/** The form for the reader's emails about accidents and safety events. */
const RecordEmails = (props: { rule: MailRule; groups: string[]; email: string }) => {
  const { rule, groups, email } = props;
  return (
    <Panel id="record-emails" title="Emails about accidents and safety events">
      <Form to={recordsPath} look="panel-body grid gap-4">
        <p>Sent to {email} within about a minute. On busy days, several are combined in one email.</p>
        <RuleFields rule={rule} groups={groups} />
        <div>
          <Submit name="Save choice" />
        </div>
      </Form>
    </Panel>
  );
};

/** The fields of a rule. */
export const RuleFields = ({ rule, groups }: { rule: MailRule; groups: string[] }) => (
  <>
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
        legend="Only vehicles in these groups"
        columns={2}
        chosen={rule.groups ?? []}
        options={groups.map((group) => [group, group])}
        hint="Choose none for all vehicles. Accidents of unknown vehicles are always included."
      />
    )}
  </>
);

/** The rule in a form. */
export function ruleIn({ value, values }: SentForm): MailRule {
  const risk = value('risk');
  const groups = [...new Set(values('groups'))].slice(0, 100);
  return {
    levels: [1, 2, 3].filter((level) => values('levels').includes(String(level))),
    risk: /^[345]$/.test(risk) ? Number(risk) : null,
    groups: groups.length > 0 ? groups : null,
  };
}

export async function saveRecordEmails(c: Context) {
  const rule = ruleIn(await readForm(c));
  const { id, email } = c.get('session').user;
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
    on
      ? `We email ${email} about webhooks and connections.`
      : `No more emails about webhooks and connections to ${email}.`,
  );
}
