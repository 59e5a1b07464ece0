-- What the account's people are told by email, and operators by `fleet status`. The code before this one goes on
-- working: it neither reads nor writes any of it.

-- Since when the receiver has been paused, as the minute's job has noticed it; null while it is not.
alter table webhook_health add column paused_since integer;
-- The last attempt that failed, as {"result", "status"}; null if it is not known.
alter table webhook_health add column last_failure text;
-- What the job has yet to notice: these are empty but for what changed within the last minute.
create index webhook_health_newly_paused on webhook_health (webhook_id)
  where failures >= 5 and paused_since is null;
create index webhook_health_newly_working on webhook_health (webhook_id)
  where failures < 5 and paused_since is not null;
create index webhook_health_paused on webhook_health (paused_since) where paused_since is not null;

-- How many of the failed ones the job has noticed. Nobody is told of what failed before there were alerts.
alter table webhook_hours add column noticed integer not null default 0;
update webhook_hours set noticed = failed where failed > 0;
create index webhook_hours_newly_failed on webhook_hours (webhook_id, slot) where failed > noticed;

-- What there is to tell of a webhook, and when people were last told of each kind. A row appears with the first
-- thing to tell.
create table alerts (
  webhook_id      text primary key references webhooks (id) on delete cascade,
  account_id      text not null,
  paused_from     integer,                    -- the last pause of its receiver; null if there was none
  paused_to       integer,                    -- null while it lasts
  failed          integer not null default 0, -- deliveries that failed since people were last told of such
  failed_from     integer,                    -- when the first of these was noticed
  told_paused_at  integer,
  told_failed_at  integer,
  told_working_at integer,
  due_at          integer                     -- when the job looks at this next; null if there is nothing to tell
) strict, without rowid;
create index alerts_due on alerts (due_at) where due_at is not null;

-- Each person can turn these emails off.
alter table portal_users add column gets_alerts integer not null default 1;
create index portal_users_alerted on portal_users (account_id, created_at, id)
  where confirmed_at is not null and gets_alerts = 1;
