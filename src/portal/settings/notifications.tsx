import { setPreferences } from '../../accounts/people.ts';
import { config } from '../../platform/config.ts';
import type { Context } from '../../platform/http/context.ts';
import { pausedAfterMs } from '../../webhooks/alerts/alerts.ts';
import type { ChannelKind } from '../../webhooks/alerts/channel-input.ts';
import { type Channel, listChannels } from '../../webhooks/alerts/channels.ts';
import { maxChannels } from '../../webhooks/alerts/messages.ts';
import { findMailRule, type MailRule, setMailRule } from '../../webhooks/alerts/rules.ts';
import { levelOptions } from '../ui/accidents.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { done, readForm } from '../ui/form.ts';
import { capital } from '../ui/format.ts';
import { Choice, Choices, FormPanel, Select } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Empty, Note } from '../ui/parts.tsx';
import type { SentForm } from '../ui/reader.ts';
import { State } from '../ui/states.tsx';
import { acting, type Column, naming, TablePanel } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';

export const notificationsPath = '/portal/settings/notifications';
export const channelsPath = `${notificationsPath}/channels`;

/** Settings, Notifications: the reader's emails, and the account's channels. */
export async function showNotifications(c: Context) {
  const { id, email, getsAlerts } = c.get('session').user;
  const [{ rule, groups }, channels] = await Promise.all([
    findMailRule(c.env, c.get('caller'), id),
    listChannels(c.env, c.get('caller')),
  ]);
  return page(
    c,
    { title: 'Notifications' },
    <>
      {!config(c.env).emailFrom && (
        <Note mood="warn">
          <p>This deployment sends no email.</p>
        </Note>
      )}
      <FormPanel
        id="emails"
        title="Your emails"
        lead={`Sent to ${email}. Those about accidents and safety events within about a minute; on busy days, several are combined in one email.`}
        to={notificationsPath}
        send="Save"
      >
        <RuleFields rule={rule} groups={groups} getsAlerts={getsAlerts} />
      </FormPanel>
      <TablePanel
        id="channels"
        title="Team channels"
        side={<LinkButton href={`${channelsPath}/new`} name="Add a channel" small />}
        stacked
        columns={channelColumns}
        items={channels}
        empty={
          <Empty icon="send" title="No channels yet">
            {`Notify your team in Slack, in Microsoft Teams or at any HTTPS endpoint, with up to ${maxChannels} channels.`}
          </Empty>
        }
      />
    </>,
  );
}

export const kindNames: { [kind in ChannelKind]: string } = {
  slack: 'Slack',
  teams: 'Microsoft Teams',
  https: 'HTTPS endpoint',
};

const channelColumns: Column<Channel>[] = [
  naming('Name', ({ name }) => name),
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
  acting(({ id, name }) => <LinkButton href={`${channelsPath}/${id}`} name="Open" about={name} small />),
];

/** What a person or a channel is notified of. */
export const RuleFields = (props: { rule: MailRule; groups: string[]; getsAlerts: boolean }) => {
  const { rule, groups, getsAlerts } = props;
  return (
    <>
      <Choice
        type="checkbox"
        name="alerts"
        value="yes"
        checked={getsAlerts}
        label="Problems with webhooks and connections"
        note={`When one has been paused, late or unavailable for ${pausedAfterMs / 60_000} minutes, when deliveries have failed, and when it works again: at most once an hour each.`}
      />
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
};

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

export async function saveNotifications(c: Context) {
  const form = await readForm(c);
  const { id, email } = c.get('session').user;
  const caller = c.get('caller');
  await setPreferences(c.env, caller, id, { getsAlerts: form.value('alerts') === 'yes' });
  await setMailRule(c.env, caller, id, ruleIn(form));
  return done(c, notificationsPath, `We email ${email} as chosen.`);
}
