import { config } from '../../platform/config.ts';
import { type Database, jsonList, statement } from '../../platform/db/database.ts';
import type { Attempt } from '../deliveries/record.ts';

/** How many people of an account are emailed, those added first. */
export const maxPeople = 20;

export const maxWaitingCounted = 100;

/** An account's recipients: the addresses of its people, and the ids of its channels. */
export type Recipients = { accountId: string; account: string; emails: string[]; channels: string[] };

/** The result of an attempt. */
export type Happened = Pick<Attempt, 'result' | 'status'>;

/** The state of a webhook: what is waiting, its last failure, and how the last failed delivery ended. */
export type WebhookReport = {
  webhookId: string;
  name: string | null;
  url: string;
  waiting: number;
  lastFailure: Happened | null;
  lastEnd: Happened | null;
};

/**
 * The people of active accounts who can sign in and have these emails on, if the deployment sends email, and the
 * channels.
 */
export const selectRecipients = (env: Env, db: Database, accountIds: string[]) =>
  statement<StoredRecipients>(db)`
    select a.id as accountId, a.name as account, (
      select json_group_array(email) from (
        select email from portal_users indexed by portal_users_alerted
        where account_id = a.id and confirmed_at is not null and gets_alerts = 1
        order by created_at, id limit ${config(env).emailFrom ? maxPeople : 0})) as emails, (
      select json_group_array(id) from alert_channels where account_id = a.id and gets_alerts = 1) as channels
    from accounts a where a.id in ${jsonList(accountIds)} and a.status = 'active'`;

type StoredRecipients = Pick<Recipients, 'accountId' | 'account'> & { emails: string; channels: string };

export const asRecipients = ({ emails, channels, ...row }: StoredRecipients): Recipients => ({
  ...row,
  emails: JSON.parse(emails),
  channels: JSON.parse(channels),
});

/**
 * The states of webhooks, with at most 100 waiting deliveries counted. Reads at most some 110 rows per webhook; deleted
 * ones are left out.
 */
export const selectReports = (db: Database, webhookIds: string[]) =>
  statement<Stored>(db)`
    select w.id as webhookId, w.name, w.url, (
        select count(*) from (
          select 1 from deliveries indexed by deliveries_due
          where webhook_id = w.id and status = 'pending' and next_attempt_at is not null limit ${maxWaitingCounted})) as waiting,
      h.last_failure as lastFailure, (
        select log->'$[#-1]' from deliveries indexed by deliveries_failed
        where webhook_id = w.id and status = 'failed' order by id desc limit 1) as lastEnd
    from webhooks w left join webhook_health h on h.webhook_id = w.id where w.id in ${jsonList(webhookIds)}`;

type Stored = Pick<WebhookReport, 'webhookId' | 'name' | 'url' | 'waiting'> & {
  lastFailure: string | null;
  lastEnd: string | null;
};

export const asReport = ({ lastFailure, lastEnd, ...row }: Stored): WebhookReport => ({
  ...row,
  lastFailure: JSON.parse(lastFailure ?? 'null'),
  lastEnd: JSON.parse(lastEnd ?? 'null'),
});
