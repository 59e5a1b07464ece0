import { env } from 'cloudflare:workers';
import { minuteMs } from '#src/core/platform/durations.ts';
import { sendAlerts } from '#src/extras/alerts/alerts.ts';
import { sendMessages } from '#src/extras/alerts/sending.ts';
import { keepEmails } from '#test/support/emails.ts';
import { type Person, signIn } from '#test/support/portal.ts';
import { rows } from '#test/support/rows.ts';
import { story } from '#test/support/story.ts';

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
    await sendAlerts(bindings, time.now);
    await sendMessages(bindings, time.now);
  };
  const mails = () => emails.sent();
  return {
    ...tale,
    ...{ ann, emails, time, mails },
    run,
    /** Lets minutes pass, with jobs in the first and the last ones, and each tenth in between. */
    async pass(minutes: number, bindings: Env = env) {
      for (let i = 1; i <= minutes; i++) {
        time.now += minuteMs;
        if (i < 3 || i % 10 === 0 || i > minutes - 2) await run(bindings);
      }
    },
    subjects: () => mails().map(({ subject }) => subject),
    recipients: () =>
      mails()
        .map(({ to }) => to)
        .sort(),
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
