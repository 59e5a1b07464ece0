import { config } from '../../platform/config.ts';
import type { Context } from '../../platform/http/context.ts';
import { channelKinds, parseChannel } from '../../webhooks/alerts/channel-input.ts';
import {
  type Channel,
  findChannel,
  removeChannel,
  saveChannel,
  testChannel,
} from '../../webhooks/alerts/channels.ts';
import { findMailRule } from '../../webhooks/alerts/rules.ts';
import { LinkButton, PostButton } from '../ui/buttons.tsx';
import { done, submit } from '../ui/form.ts';
import { Buttons, confirmed, Field, Form, Select } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Panel } from '../ui/parts.tsx';
import { found } from '../ui/records.tsx';
import { channelsPath, kindNames, notificationsPath, RuleFields, ruleIn } from './notifications.tsx';

/** The form of a new channel, or of the one in the path. */
export async function show(c: Context) {
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
export async function save(c: Context) {
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
    () => show(c),
    'url',
  );
}

export async function test(c: Context) {
  const channel = found(await namedIn(c));
  const problem = await testChannel(c.env, c.get('caller'), channel.id);
  return problem === null
    ? done(c, pathOf(channel), `${channel.name} accepted the test message.`)
    : done(c, pathOf(channel), `The test message failed: the channel ${problem}.`, 'bad');
}

export const remove = confirmed(async (c) => {
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
