import * as v from 'valibot';
import { Group } from '../../../core/fleet/lists/vehicles.ts';
import { config } from '../../../core/platform/config.ts';
import { by, type Context, inPath } from '../../../core/platform/http/context.ts';
import { capital } from '../../../core/platform/text.ts';
import { pausedAfterMs } from '../../../core/webhooks/deliveries/policy.ts';
import { setPreferences } from '../../../people/people.ts';
import { added } from '../../../ui/added.ts';
import { Breakable } from '../../../ui/breakable.tsx';
import { LinkButton, PostButton } from '../../../ui/buttons.tsx';
import {
  box,
  boxes,
  choice,
  confirmed,
  type FormField,
  FormPanel,
  formPage,
  handles,
  line,
  valuesIn,
} from '../../../ui/forms/form-fields.tsx';
import { type Offered, offered } from '../../../ui/forms/forms.tsx';
import { page } from '../../../ui/layout.tsx';
import { levelOptions, Note, riskOptions, State } from '../../../ui/parts.tsx';
import { done } from '../../../ui/submit.ts';
import { acting, type Column, naming, TablePanel } from '../../../ui/table.tsx';
import { Ago } from '../../../ui/time.tsx';
import { type Channel, channelKinds, maxChannels, parseChannel } from '../channel-input.ts';
import * as channels from '../channels.ts';
import { findMailRule, type MailRule, saveMailRule } from '../rules.ts';

export const notificationsPath = '/portal/settings/notifications';
const channelsPath = `${notificationsPath}/channels`;

/** Settings, Notifications: the reader's emails, and the account's channels. */
export async function showNotifications(c: Context) {
  const { user } = c.get('session');
  const { id, email, getsAlerts } = user;
  const chosen = added(c, 'email').map(({ name, isChosen }) => [name, isChosen(user)]);
  const [{ rule, groups }, known] = await Promise.all([
    findMailRule(...by(c), id),
    channels.listChannels(...by(c)),
  ]);
  return page(
    c,
    { title: 'Notifications' },
    <>
      {!config(c.env).emailFrom && <Note mood="warn">This deployment sends no email.</Note>}
      <FormPanel
        title="Your emails"
        lead={`Sent to ${email}. Those about accidents and safety events within about a minute; on busy days, several are combined in one email.`}
        to={notificationsPath}
        send="Save"
        fields={{ ...emailFields(c), ...ruleFields(groups) }}
        stored={{ ...rule, alerts: getsAlerts, ...Object.fromEntries(chosen) }}
      />
      <TablePanel
        title="Team channels"
        side={<LinkButton href={`${channelsPath}/new`} name="Add a channel" small />}
        stacked
        columns={channelColumns}
        items={known}
        empty={{
          icon: 'send',
          title: 'No channels yet',
          text: `Notify your team in Slack, in Microsoft Teams or at any HTTPS endpoint, with up to ${maxChannels} channels.`,
        }}
      />
    </>,
  );
}

const kindNames = { slack: 'Slack', teams: 'Microsoft Teams', https: 'HTTPS endpoint' };

const channelColumns: Column<Channel>[] = [
  naming('Name', ({ name }) => name),
  { head: 'Kind', cell: ({ kind }) => kindNames[kind] },
  {
    head: 'Address',
    cell: ({ host, lastFour }) => (
      <code>
        <Breakable text={`${host} …${lastFour}`} />
      </code>
    ),
  },
  {
    head: 'Last message',
    cell: ({ problem, problemAt, sentAt }) =>
      problem === null ? (
        <State mood={sentAt === null ? 'quiet' : 'ok'}>
          {sentAt === null ? 'Nothing sent yet' : ['Arrived ', <Ago at={sentAt} />]}
        </State>
      ) : (
        <>
          <State mood="bad">Failed</State>
          <span class="sub block">
            {capital(problem)}, <Ago at={problemAt ?? 0} />
          </span>
        </>
      ),
  },
  acting((channel) => <LinkButton href={pathOf(channel)} name="Open" about={channel.name} small />),
];

const problems =
  `When a webhook has been paused or a connection late for ${pausedAfterMs / 60_000} minutes, when deliveries have ` +
  'failed, and when it works again. At most one message an hour about each.';

/** What a person or a channel is notified of. Operators may have chosen a lower risk. */
const ruleFields = (groups: string[] = [], risk: number | null = null) => ({
  alerts: box('Problems with webhooks and connections', problems),
  levels: boxes('Accidents that reach', levelOptions, { columns: undefined }),
  risk: choice('Safety events', riskOptions('None', Math.min(3, risk ?? 3))),
  groups: boxes(
    'Only vehicles in these groups',
    offered(groups),
    'Choose none for all vehicles. Accidents of unknown vehicles are always included.',
  ),
});

/** The rule in a form. */
function ruleIn({
  levels,
  risk,
  groups,
}: {
  levels: string[];
  risk: string;
  groups: string[];
}): MailRule {
  const known = [...new Set(groups.filter((group) => v.is(Group, group)))].slice(0, 100);
  return {
    levels: [1, 2, 3].filter((level) => levels.includes(String(level))),
    risk: risk ? Number(risk) : null,
    groups: known.length > 0 ? known : null,
  };
}

/** The emails of other extras that people choose. */
const emailFields = (c: Context): { [name: string]: FormField<boolean> } =>
  Object.fromEntries(added(c, 'email').map(({ name, label, note }) => [name, box(label, note)]));

export const saveNotifications = handles(
  ruleFields(),
  showNotifications,
  async (c, values, form) => {
    const { id, email } = c.get('session').user;
    const chosen = valuesIn(emailFields(c), form);
    const others = added(c, 'email').map(({ name, choose }) => choose(c, chosen[name] === true));
    await setPreferences(...by(c), id, { getsAlerts: values.alerts }, (db) => [
      saveMailRule(db, c.get('caller'), id, ruleIn(values)),
      others.map((choose) => choose(db)),
    ]);
    return done(c, notificationsPath, `We email ${email} as chosen.`);
  },
);

const kinds = channelKinds.map((kind): Offered => [kind, kindNames[kind]]);

const channelFields = (channel?: Channel) => ({
  kind: choice('Kind', kinds),
  name: line('Name', v.string(), { required: true, placeholder: '#fleet-alerts' }),
  url: line('URL', v.string(), {
    type: 'password',
    required: !channel,
    autocomplete: 'off',
    placeholder: channel ? `${channel.host} …${channel.lastFour}` : 'https://',
    hint: channel
      ? 'Leave empty to keep the current URL.'
      : 'It is not shown again: whoever has it can post to the channel.',
  }),
});

/** The form of a new channel, or of the one in the path. */
export async function channel(c: Context) {
  const known = await channelIn(c);
  const { rule, groups } = await findMailRule(...by(c), known?.id);
  return formPage(c, {
    title: known ? `Channel ${known.name}` : 'Add a channel',
    actions: known && (
      <>
        <PostButton to={`${pathOf(known)}/test`} name="Send a test message" icon="send" />
        <LinkButton href={`${pathOf(known)}/remove`} name="Remove" weight="danger" />
      </>
    ),
    before: (
      <p class="hint">
        In Slack, add an incoming webhook to an app of yours. In Teams, add the workflow “Send
        webhook alerts to a channel”.{' '}
        <a href="/docs/portal#team-channels">What an HTTPS endpoint receives</a>
      </p>
    ),
    fields: { ...channelFields(known), ...ruleFields(groups, rule.risk) },
    stored: {
      ...(known ? rule : { ...rule, levels: [1, 2, 3] }),
      ...{ kind: known?.kind, name: known?.name, alerts: known?.getsAlerts ?? true },
    },
    send: known ? 'Save' : 'Add channel',
    back: notificationsPath,
    save: async ({ name, kind, url, alerts, ...chosen }) => {
      const input = parseChannel(
        { name, kind, url, getsAlerts: alerts },
        {
          ...{ isNew: !known, ownHost: new URL(c.req.url).hostname },
          allowLoopback: config(c.env).allowLoopbackReceivers,
        },
      );
      const id = await channels.saveChannel(...by(c), input, ruleIn(chosen), known?.id);
      const added = `Added ${input.name}. Send a test message to see whether it arrives.`;
      return done(c, pathOf({ id }), known ? 'Saved.' : added);
    },
  });
}

export async function sendTest(c: Context) {
  const channel = await inPath(c, channels.findChannel);
  const problem = await channels.testChannel(...by(c), channel.id);
  return problem === null
    ? done(c, pathOf(channel), `${channel.name} accepted the test message.`)
    : done(c, pathOf(channel), `The test message failed: the channel ${problem}.`, 'bad');
}

export const removeNamed = confirmed(async (c) => {
  const { id, name } = await inPath(c, channels.findChannel);
  return {
    title: `Remove “${name}”?`,
    text: 'It receives no more messages, and pending ones are dropped. To add it again, you need its URL.',
    does: () => channels.removeChannel(...by(c), id),
    said: `Removed ${name}. It receives no more messages.`,
    back: pathOf({ id }),
    next: notificationsPath,
  };
});

const pathOf = ({ id }: Pick<Channel, 'id'>): string => `${channelsPath}/${id}`;

/** The channel in the path, or undefined for a new one. @throws Refusal: not found, also for another account's */
const channelIn = async (c: Context): Promise<Channel | undefined> =>
  c.req.param('id') === undefined ? undefined : inPath(c, channels.findChannel);
