import { env } from 'cloudflare:workers';
import { sendAlerts } from '#src/extras/alerts/alerts.ts';
import type { AlertMessage } from '#src/extras/alerts/call.ts';
import { sendMessages } from '#src/extras/alerts/sending.ts';
import { keepEmails, minuteMs, type Person, rows, signIn, story, unwoken } from '#test/support.ts';

export const channelUrl = 'https://hooks.example.com/services/T0/B0/SECRETabcd';

const tables = ['alert_messages', 'alert_channels', 'alerts_sent', 'mail_rules'];

/** A story in which minutes pass as a test says, emails are kept, and Ann can sign in. */
export function alertStory() {
  const tale = story();
  const [ann, emails] = [{} as Person, {} as ReturnType<typeof keepEmails>]; // filled in before each test
  const time = { now: 0 };
  beforeEach(async () => {
    for (const table of [...tables, 'webhook_health', 'webhook_hours', 'deliveries'])
      await rows(`delete from ${table}`);
    time.now = Date.now();
    Object.assign(ann, await signIn(tale.us));
    Object.assign(emails, keepEmails());
  });
  const run = async (bindings: Env = env) => {
    await sendAlerts({ ...bindings, DELIVERIES: unwoken }, time.now);
    await sendMessages(bindings, time.now);
  };
  const mails = () => emails.sent();
  return {
    ...tale,
    ann,
    emails,
    time,
    mails,
    run,
    /** Lets minutes pass, with jobs in the first and the last ones, and each tenth in between. */
    async pass(minutes: number, bindings: Env = env) {
      for (let i = 1; i <= minutes; i++) {
        time.now += minuteMs;
        if (i < 3 || i % 10 === 0 || i > minutes - 2) await run(bindings);
      }
    },
    subjects: () => mails().map(({ subject }) => subject),
    /** Adds a channel by the form. Returns the path of its page. */
    async addChannel(more: Record<string, string> = {}) {
      const fields = { kind: 'https', name: 'Ops', url: channelUrl, alerts: 'yes', ...more };
      const reply = await ann.post('/portal/settings/notifications/channels/new', fields);
      expect(reply.status).toBe(303);
      return reply.headers.get('location') ?? '';
    },
    /** What a channel got. */
    got: (url = channelUrl) =>
      tale.heard.got
        .filter((call) => call.url === url)
        .map(({ body }) => body as object as AlertMessage), // and no delivery
  };
}

/** Five attempts of webhooks failed in a row at a time; null: one succeeded since. */
export const fail = (webhookIds: string[], at: number | null) =>
  rows(
    `insert into webhook_health (webhook_id, failures, openings, open_until, paused_since)
     select value, 5, 1, 0, ?2 from json_each(?1) where true
     on conflict (webhook_id) do update set paused_since = excluded.paused_since`,
    JSON.stringify(webhookIds),
    at,
  );
