import * as v from 'valibot';
import { setPreferences } from '../../accounts/people.ts';
import { config } from '../../platform/config.ts';
import type { Context } from '../../platform/http/context.ts';
import { capital } from '../../platform/text.ts';
import { pausedAfterMs } from '../../webhooks/alerts/alerts.ts';
import { type ChannelKind, channelKinds, parseChannel } from '../../webhooks/alerts/channel-input.ts';
import {
  type Channel,
  findChannel,
  listChannels,
  removeChannel,
  saveChannel,
  testChannel,
} from '../../webhooks/alerts/channels.ts';
import { maxChannels } from '../../webhooks/alerts/messages.ts';
import { findMailRule, type MailRule, setMailRule } from '../../webhooks/alerts/rules.ts';
import { Group } from '../../webhooks/filters.ts';
import { levelOptions } from '../ui/accidents.tsx';
import { LinkButton, PostButton } from '../ui/buttons.tsx';
import { Buttons, Choice, Choices, confirmed, Field, Form, FormPanel, Select } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Empty, Note, Panel } from '../ui/parts.tsx';
import type { SentForm } from '../ui/reader.ts';
import { found } from '../ui/records.tsx';
import { State } from '../ui/states.tsx';
import { done, readForm, submit } from '../ui/submit.ts';
import { acting, type Column, naming, TablePanel } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';

const notificationsPath = '/portal/settings/notifications';
const channelsPath = `${notificationsPath}/channels`;

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

const kindNames: { [kind in ChannelKind]: string } = {
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
  acting((channel) => <LinkButton href={pathOf(channel)} name="Open" about={channel.name} small />),
];

/** What a person or a channel is notified of. */
const RuleFields = (props: { rule: MailRule; groups: string[]; getsAlerts: boolean }) => {
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
function ruleIn({ value, values }: SentForm): MailRule {
  const risk = value('risk');
  const groups = [...new Set(values('groups').filter((group) => v.is(Group, group)))].slice(0, 100);
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

/** The form of a new channel, or of the one in the path. */
export async function showChannel(c: Context) {
  const channel = await namedIn(c);
  const { rule, groups } = await findMailRule(c.env, c.get('caller'), channel?.id);
  return page(
    c,
    { title: channel ? `Channel ${channel.name}` : 'Add a channel' },
    <>
      {channel && (
        <div class="actions">
          <PostButton to={`${pathOf(channel)}/test`} name="Send a test message" icon="send" />
          <LinkButton href={`${pathOf(channel)}/remove`} name="Remove" weight="danger" />
        </div>
      )}
      <Panel id="channel" title="Where and what" hidden>
        <Form look="panel-body grid gap-4">
          <Select
            name="kind"
            label="Kind"
            value={channel?.kind}
            options={channelKinds.map((kind) => [kind, kindNames[kind]])}
          />
          <Field name="name" label="Name" required value={channel?.name} placeholder="#fleet-alerts" />
          <Field
            name="url"
            label="URL"
            type="password"
            required={!channel}
            autocomplete="off"
            placeholder={channel ? `${channel.host} …${channel.lastFour}` : 'https://'}
            hint={
              channel
                ? 'Leave empty to keep the current URL.'
                : 'It is not shown again: whoever has it can post to the channel.'
            }
          />
          <p class="hint">
            In Slack, add an incoming webhook to an app of yours. In Teams, add the workflow “Send webhook
            alerts to a channel”. <a href="/docs/portal#team-channels">What an HTTPS endpoint receives</a>
          </p>
          <RuleFields rule={rule} groups={groups} getsAlerts={channel?.getsAlerts ?? true} />
          <Buttons send={channel ? 'Save' : 'Add channel'} back={notificationsPath} />
        </Form>
      </Panel>
    </>,
  );
}

/** Saves a new channel, or the one in the path. */
export async function saveSentChannel(c: Context) {
  const channel = await namedIn(c);
  return submit(
    c,
    async (form) => {
      const [name, kind, url] = ['name', 'kind', 'url'].map(form.value);
      const input = parseChannel(
        { name, kind, url, getsAlerts: form.value('alerts') === 'yes' },
        {
          ...{ isNew: !channel, ownHost: new URL(c.req.url).hostname },
          allowLoopback: config(c.env).allowLoopbackReceivers,
        },
      );
      const [caller, rule] = [c.get('caller'), ruleIn(form)];
      const id = await saveChannel(c.env, caller, input, rule, channel?.id);
      const added = `Added ${input.name}. Send a test message to see whether it arrives.`;
      return done(c, pathOf({ id }), channel ? 'Saved.' : added);
    },
    () => showChannel(c),
    'url',
  );
}

export async function sendTest(c: Context) {
  const channel = found(await namedIn(c));
  const problem = await testChannel(c.env, c.get('caller'), channel.id);
  return problem === null
    ? done(c, pathOf(channel), `${channel.name} accepted the test message.`)
    : done(c, pathOf(channel), `The test message failed: the channel ${problem}.`, 'bad');
}

export const removeNamed = confirmed(async (c) => {
  const channel = found(await namedIn(c));
  return {
    title: `Remove “${channel.name}”?`,
    text: 'It receives no more messages, and pending ones are dropped. To add it again, you need its URL.',
    does: () => removeChannel(c.env, c.get('caller'), channel.id),
    said: `Removed ${channel.name}. It receives no more messages.`,
    back: pathOf(channel),
    next: notificationsPath,
  };
});

const pathOf = ({ id }: Pick<Channel, 'id'>): string => `${channelsPath}/${id}`;

/** The channel in the path, or undefined for a new one. @throws Refusal: not found, also for another account's */
async function namedIn(c: Context): Promise<Channel | undefined> {
  const id = c.req.param('id');
  return id === undefined ? undefined : found(await findChannel(c.env, c.get('caller'), id));
}
